import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { graphql } from '../../graphql.js';
import { mayAnalyze, useSession } from '../../session.js';
import { ago, count } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { State } from '../../ui/State.js';
import { usePolling } from '../../use-live.js';
import type { AuditResult } from '../audit/audit-result.js';
import { sentence } from './diagnostic-text.js';
import { useLiveQuery } from './live-query.js';
import { StartAudit } from './StartAudit.js';

const AuditsQuery = graphql(`
  query Audits($run: ID!) {
    run(id: $run) {
      id
      audits(first: 10) {
        edges {
          node {
            id
            asOf
            estimator
            signal
            state
            failure
            result
            createdAt
          }
        }
        pageInfo {
          hasNextPage
        }
      }
    }
  }
`);

const POLL_MS = 2000;

/** Whether the trainer's own advantages are what it says they are, newest first, and a form to ask. */
export function Audits({ run, position }: { readonly run: string; readonly position: number }) {
  const { session } = useSession();
  const [isAsking, setAsking] = useState(false);
  const { data, error, again } = useLiveQuery(AuditsQuery, { run }, position);
  const connection = data?.run?.audits;
  const audits = connection?.edges.map(({ node }) => node) ?? [];
  usePolling(() => audits.some(({ state }) => state === 'RUNNING') && again(), POLL_MS);
  return (
    <Panel
      title="Audits"
      actions={
        mayAnalyze(session) && (
          <button type="button" aria-expanded={isAsking} onClick={() => setAsking(!isAsking)}>
            {isAsking ? 'Close' : 'Start an audit'}
          </button>
        )
      }
    >
      {isAsking && (
        <StartAudit
          run={run}
          onStarted={() => {
            setAsking(false);
            again();
          }}
        />
      )}
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={44} count={2} />}
      {connection && audits.length === 0 && !isAsking && (
        <Empty title="The trainer’s own advantages are not audited">
          <p>An audit holds what the trainer logged against what an estimator gives for the same trajectories.</p>
        </Empty>
      )}
      {audits.map(({ id, asOf, estimator, signal, state, failure, result, createdAt }) => (
        <article key={id} className="analysis">
          <div className="analysis-head">
            <Link to="/audits/$audit" params={{ audit: id }}>
              {signal} against {estimator}
            </Link>
            <span className="end">
              <State state={state} />
            </span>
          </div>
          {result !== null && <p>{sentence(visibleText((result as AuditResult).sentence))}</p>}
          {failure && <p className="lacking">{visibleText(failure)}</p>}
          <p className="hint">
            {ago(createdAt, Date.now())}, as of event {count(asOf)}
          </p>
        </article>
      ))}
      {connection?.pageInfo.hasNextPage && <p className="hint">the 10 newest</p>}
    </Panel>
  );
}
