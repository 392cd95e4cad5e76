import { useSearch } from '@tanstack/react-router';
import { graphql, readFragment } from '../../graphql.js';
import { counted } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { usePolling } from '../../use-live.js';
import { AlertFields, Alerts } from './Alerts.js';
import { sentence } from './diagnostic-text.js';
import { DiagnosticFields, DiagnosticRow, type Diagnostic } from './DiagnosticRow.js';
import { useLiveQuery } from './live-query.js';
import { byTopic } from './topics.js';

const DiagnosticsQuery = graphql(
  `
    query Diagnostics($run: ID!) {
      run(id: $run) {
        id
        diagnostics {
          ...DiagnosticRow
        }
        open: alerts(isOpen: true, first: 50) {
          edges {
            node {
              ...AlertItem
            }
          }
        }
        closed: alerts(isOpen: false, first: 20) {
          edges {
            node {
              ...AlertItem
            }
          }
        }
      }
    }
  `,
  [DiagnosticFields, AlertFields],
);

/** Diagnostics follow the run by some seconds, so they are asked for again until they have caught up. */
const POLL_MS = 4000;

/** Measured sentences about the run: what alerts, then what is said by topic, then what cannot be said. */
export function Diagnostics({ run, position }: { readonly run: string; readonly position: number }) {
  const { diagnostic: chosen } = useSearch({ from: '/runs/$run' });
  const { data, error, again } = useLiveQuery(DiagnosticsQuery, { run }, position);
  const found = data?.run;
  const diagnostics = found?.diagnostics.map((one) => readFragment(DiagnosticFields, one)) ?? [];
  const open = found?.open.edges.map(({ node }) => readFragment(AlertFields, node)) ?? [];
  const closed = found?.closed.edges.map(({ node }) => readFragment(AlertFields, node)) ?? [];
  const isBehind = found && diagnostics.every(({ asOf }) => asOf < position);
  usePolling(() => isBehind && again(), POLL_MS);

  const alerting = new Set(open.map(({ diagnostic }) => diagnostic));
  const said = diagnostics.filter(({ id, value }) => value !== null || alerting.has(id));
  const unsaid = diagnostics.filter((one) => !said.includes(one));
  return (
    <Panel title="Diagnostics" hint={diagnostics.length > 0 ? summaryOf(open.length, said, unsaid) : undefined}>
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={44} count={6} />}
      {found && diagnostics.length === 0 && (
        <Empty title="Nothing is measured yet">
          <p>Diagnostics follow the training steps by some seconds.</p>
        </Empty>
      )}
      <Alerts run={run} open={open} closed={closed} titles={new Map(diagnostics.map((one) => [one.id, one]))} />
      {byTopic(said).map(([topic, members]) => (
        <section key={topic} className="topic">
          <h3>{topic}</h3>
          {members.map((one) => (
            <DiagnosticRow
              key={one.id}
              run={run}
              diagnostic={one}
              isOpen={one.id === chosen}
              isAlerting={alerting.has(one.id)}
            />
          ))}
        </section>
      ))}
      {unsaid.length > 0 && (
        <details className="topic">
          <summary>{counted(unsaid.length, 'more')}: cannot be said of this run</summary>
          <dl className="unsaid">
            {unsaid.map((one) => (
              <div key={one.id}>
                <dt>{one.title}</dt>
                <dd>{whyUnsaid(one)}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </Panel>
  );
}

function summaryOf(alerts: number, said: readonly object[], unsaid: readonly object[]): string {
  const all = said.length + unsaid.length;
  return `${alerts === 0 ? 'no alert' : counted(alerts, 'open alert')}, ${said.length} of ${all} readings`;
}

/** The signals that it lacks, or why its value is undefined, or what it says instead. */
function whyUnsaid({ missing, reasons, headline, reading }: Diagnostic): string {
  const reason = (reasons as Record<string, string>)[headline];
  return sentence(visibleText(missing.length > 0 ? missing.join('; ') : (reason ?? reading)));
}
