import { Link } from '@tanstack/react-router';
import { useMutation } from 'urql';
import { graphql, type ResultOf } from '../../graphql.js';
import { mayAnalyze, useSession } from '../../session.js';
import { ago, count, counted } from '../../text/numbers.js';
import { State } from '../../ui/State.js';
import { LiveProgress } from '../analysis/LiveProgress.js';

export const AnalysisFields = graphql(`
  fragment AnalysisItem on Analysis @_unmask {
    id
    state
    failure
    createdAt
    asOf
    estimators {
      label
      inputsMissing {
        path
      }
    }
    progress {
      total
      failed
    }
  }
`);

const CancelMutation = graphql(`
  mutation CancelAnalysis($id: ID!) {
    cancelAnalysis(id: $id) {
      id
      state
    }
  }
`);

interface AnalysisItemProps {
  readonly analysis: ResultOf<typeof AnalysisFields>;
  readonly onEnd: () => void;
}

export function AnalysisItem({ analysis, onEnd }: AnalysisItemProps) {
  const { id, state, failure, createdAt, asOf, estimators, progress } = analysis;
  const { session } = useSession();
  const [cancelling, cancel] = useMutation(CancelMutation);
  const isUnderWay = state === 'PLANNING' || state === 'RUNNING';
  const silent = estimators.filter(({ inputsMissing }) => inputsMissing.length > 0);
  return (
    <article className="analysis">
      <div className="analysis-head">
        <Link to="/analyses/$analysis" params={{ analysis: id }}>
          {estimators.map(({ label }) => label).join(', ')}
        </Link>
        <span className="end">
          <State state={state} />
        </span>
      </div>
      {isUnderWay && <LiveProgress analysis={id} onEnd={onEnd} />}
      <p className="hint">
        {ago(createdAt, Date.now())}, as of event {count(asOf)}, {counted(progress.total, 'shard')}
        {progress.failed > 0 && <span className="lacking"> · {count(progress.failed)} failed</span>}
        {silent.length > 0 && (
          <span className="lacking"> · signals missing for {silent.map(({ label }) => label).join(', ')}</span>
        )}
      </p>
      {failure && <p className="lacking">{failure}</p>}
      {isUnderWay && mayAnalyze(session) && (
        <div>
          <button type="button" disabled={cancelling.fetching} onClick={() => void cancel({ id }).then(onEnd)}>
            Cancel
          </button>
        </div>
      )}
    </article>
  );
}
