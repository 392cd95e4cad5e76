import { useState } from 'react';
import { graphql, readFragment } from '../../graphql.js';
import { mayAnalyze, useSession } from '../../session.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { AnalysisFields, AnalysisItem } from './AnalysisItem.js';
import { useLiveQuery } from './live-query.js';
import { StartAnalysis } from './StartAnalysis.js';

const AnalysesQuery = graphql(
  `
    query Analyses($run: ID!) {
      run(id: $run) {
        id
        analyses(first: 20) {
          edges {
            node {
              ...AnalysisItem
            }
          }
          pageInfo {
            hasNextPage
          }
        }
      }
    }
  `,
  [AnalysisFields],
);

/** What was asked about the run after the fact, newest first, and a form to ask more. */
export function Analyses({ run, position }: { readonly run: string; readonly position: number }) {
  const { session } = useSession();
  const [isAsking, setAsking] = useState(false);
  const { data, error, again } = useLiveQuery(AnalysesQuery, { run }, position);
  const connection = data?.run?.analyses;
  return (
    <Panel
      title="Analyses"
      actions={
        mayAnalyze(session) && (
          <button type="button" aria-expanded={isAsking} onClick={() => setAsking(!isAsking)}>
            {isAsking ? 'Close' : 'Start an analysis'}
          </button>
        )
      }
    >
      {isAsking && (
        <StartAnalysis
          run={run}
          onStarted={() => {
            setAsking(false);
            again();
          }}
        />
      )}
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={62} count={2} />}
      {connection?.edges.length === 0 && !isAsking && (
        <Empty title="No analysis yet">
          <p>An analysis asks what other estimators would have said about these same rollouts.</p>
        </Empty>
      )}
      {connection?.edges.map(({ node }) => {
        const analysis = readFragment(AnalysisFields, node);
        return <AnalysisItem key={analysis.id} analysis={analysis} onEnd={again} />;
      })}
      {connection?.pageInfo.hasNextPage && <p className="hint">the 20 newest are shown</p>}
    </Panel>
  );
}
