import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ago, count, decimal, percent } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Head } from '../../ui/Crumbs.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { State } from '../../ui/State.js';
import { Text } from '../../ui/Text.js';
import { valueText } from '../run/diagnostic-text.js';
import { CurvesOfTwo } from './CurvesOfTwo.js';
import { TwoRunsQuery, type ComparedRun, type Two } from './queries.js';
import { useAsked } from '../../use-asked.js';

/** Two runs side by side: the same metrics, the same diagnostics, the same estimators. */
export function ComparePage() {
  const { a, b } = useSearch({ from: '/compare' });
  const isAsked = a !== undefined && b !== undefined;
  const { data, error, again } = useAsked({
    query: TwoRunsQuery,
    variables: { a: a ?? '', b: b ?? '' },
    pause: !isAsked,
    requestPolicy: 'cache-and-network',
  });
  const head = <Head title="Two runs" crumbs={[<Link to="/runs">Runs</Link>]} />;
  const choose = (
    <p>
      <Link to="/runs">Choose two in the list of runs</Link>
    </p>
  );
  if (!isAsked) {
    return (
      <>
        {head}
        <Empty title="Nothing to compare">{choose}</Empty>
      </>
    );
  }
  if (error) return <Failure message={error.message} onRetry={again} />;
  if (!data) return <Skeleton height={180} count={3} />;
  if (!data.a || !data.b) {
    return (
      <>
        {head}
        <Empty title="You see one of these runs only, or neither">{choose}</Empty>
      </>
    );
  }
  const runs = [data.a, data.b] as const;
  const estimators = estimatorRows(runs);
  return (
    <div className="two-runs">
      {head}
      <Panel title="At a glance">
        <DataTable<Row>
          label="At a glance"
          rows={glanceRows(runs)}
          columns={columnsOf(runs, 'Number')}
          keyOf={({ name }) => name}
        />
      </Panel>
      <CurvesOfTwo runs={runs} />
      <Panel title="Diagnostics" hint="of all training steps of each">
        <DataTable<Row>
          label="Diagnostics"
          rows={diagnosticRows(runs)}
          columns={columnsOf(runs, 'Diagnostic')}
          keyOf={({ name }) => name}
        />
      </Panel>
      <Panel
        title="Estimators"
        hint="spread of the credit and share of turns that get any, from the newest analysis of each"
      >
        {estimators.length === 0 ? (
          <Empty title="No estimator was computed on both">
            <p>Start the same analysis on each of them: its numbers then stand here side by side.</p>
          </Empty>
        ) : (
          <DataTable<Row>
            label="Estimators"
            rows={estimators}
            columns={columnsOf(runs, 'Estimator')}
            keyOf={({ name }) => name}
          />
        )}
      </Panel>
    </div>
  );
}

interface Row {
  readonly name: string;
  readonly values: readonly [ReactNode, ReactNode];
}

function columnsOf(runs: Two, title: string): readonly Column<Row>[] {
  return [
    { id: 'name', title, cell: ({ name }) => name },
    ...runs.map(({ name }, i): Column<Row> => ({
      id: String(i),
      title: visibleText(name),
      align: 'end',
      cell: ({ values }) => values[i],
    })),
  ];
}

function glanceRows(runs: Two): Row[] {
  const row = (name: string, of: (run: ComparedRun) => ReactNode): Row => ({
    name,
    values: [of(runs[0]), of(runs[1])],
  });
  return [
    row('Run', ({ id, name }) => (
      <Link to="/runs/$run" params={{ run: id }}>
        <Text>{name}</Text>
      </Link>
    )),
    row('Project', ({ project }) => <Text>{project}</Text>),
    row('State', ({ progress }) => <State state={progress.state} />),
    row('Training steps', ({ progress: { lastTrainingStep } }) =>
      count(lastTrainingStep === null ? 0 : lastTrainingStep + 1),
    ),
    row('Groups', ({ progress }) => count(progress.groupCount)),
    row('Trajectories', ({ progress }) => count(progress.trajectoryCount)),
    row('Turns', ({ progress }) => count(progress.turnCount)),
    row('Success rate', ({ progress }) => percent(progress.successRate)),
    row('Mean outcome reward', ({ progress }) => decimal(progress.meanOutcomeReward)),
    row('Last event', ({ progress }) => ago(progress.lastEventAt, Date.now())),
  ];
}

/** What can be said of one at least, in the order of the catalogue. */
function diagnosticRows([first, second]: Two): Row[] {
  const others = new Map(second.diagnostics.map((one) => [one.id, one]));
  return first.diagnostics.flatMap(({ id, title, headline, value }) => {
    const other = others.get(id)?.value ?? null;
    if (value === null && other === null) return [];
    return [{ name: title, values: [valueText(headline, value), valueText(headline, other)] }];
  });
}

/** Estimators that the newest analysis of each has, by label. */
function estimatorRows(runs: Two): Row[] {
  const [first, second] = runs.map(({ analyses }) =>
    analyses.edges.map(({ node }) => node.comparison).find((comparison) => comparison !== null),
  );
  const others = new Map(second?.estimators.map((one) => [one.id, one]));
  return (first?.estimators ?? []).flatMap((one) => {
    const other = others.get(one.id);
    return other ? [{ name: one.id, values: [numbersOf(one), numbersOf(other)] }] : [];
  });
}

function numbersOf({
  std,
  signalDensity,
}: {
  readonly std: number | null;
  readonly signalDensity: number | null;
}): string {
  return `${decimal(std)}, ${percent(signalDensity)}`;
}
