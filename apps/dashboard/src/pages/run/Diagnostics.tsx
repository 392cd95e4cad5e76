import { useSearch } from '@tanstack/react-router';
import { graphql, readFragment } from '../../graphql.js';
import { count, counted } from '../../text/numbers.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { usePolling } from '../../use-live.js';
import { AlertFields, Alerts } from './Alerts.js';
import { DiagnosticFields, DiagnosticRow, type Diagnostic } from './DiagnosticRow.js';
import { useLiveQuery } from './live-query.js';
import { SettingsFields } from './settings/queries.js';
import { byTopic } from './topics.js';

const DiagnosticsQuery = graphql(
  `
    query Diagnostics($run: ID!) {
      run(id: $run) {
        id
        diagnostics {
          ...DiagnosticRow
        }
        diagnosticSettings {
          ...SettingsInForce
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
          pageInfo {
            hasNextPage
          }
        }
      }
    }
  `,
  [DiagnosticFields, SettingsFields, AlertFields],
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
  const inForce = found?.diagnosticSettings;
  const isBehind =
    inForce &&
    (diagnostics.every(({ asOf }) => asOf < position) ||
      diagnostics.some(({ settingsVersion }) => settingsVersion < inForce.version));
  usePolling(() => isBehind && again(), POLL_MS);

  const alerting = new Set(open.map(({ diagnostic }) => diagnostic));
  const said = diagnostics.filter(({ id, value }) => value !== null || alerting.has(id));
  const unsaid = diagnostics.filter((one) => !said.includes(one));
  const row = (one: Diagnostic) =>
    inForce && (
      <DiagnosticRow
        key={one.id}
        {...{ run, inForce }}
        diagnostic={one}
        isOpen={one.id === chosen}
        isAlerting={alerting.has(one.id)}
        onSet={again}
      />
    );
  return (
    <Panel title="Diagnostics" hint={diagnostics.length > 0 ? summaryOf(open.length, said, unsaid) : undefined}>
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={44} count={6} />}
      {found && diagnostics.length === 0 && (
        <Empty title="Nothing is measured yet">
          <p>Diagnostics follow the training steps by some seconds.</p>
        </Empty>
      )}
      <Alerts
        {...{ run, open, closed }}
        wereMore={found?.closed.pageInfo.hasNextPage ?? false}
        titles={new Map(diagnostics.map((one) => [one.id, one]))}
      />
      {byTopic(said).map(([topic, members]) => (
        <section key={topic} className="topic">
          <h3>{topic}</h3>
          {members.map(row)}
        </section>
      ))}
      {unsaid.length > 0 && (
        <details className="topic" open={unsaid.some(({ id }) => id === chosen) || undefined}>
          <summary>{count(unsaid.length)} more: cannot be said of this run, and why</summary>
          {unsaid.map(row)}
        </details>
      )}
    </Panel>
  );
}

function summaryOf(alerts: number, said: readonly Diagnostic[], unsaid: readonly Diagnostic[]): string {
  const all = [...said, ...unsaid];
  const failed = all.filter((one) => one.failed.length > 0).length;
  return [
    alerts === 0 ? 'no alert' : counted(alerts, 'open alert'),
    `${said.length} of ${all.length} readings`,
    ...(failed > 0 ? [`${failed} failed`] : []),
  ].join(', ');
}
