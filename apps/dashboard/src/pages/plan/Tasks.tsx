import { Link, useSearch } from '@tanstack/react-router';
import type { CSSProperties } from 'react';
import { count, counted, decimal, percent } from '../../text/numbers.js';
import { without } from '../../without.js';
import type { Column } from '../../ui/DataTable.js';
import { Empty } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import type { Plan } from './queries.js';
import { tasksOf, type Task } from './rows.js';
import { Shortened } from './Shortened.js';

/** Tasks by how hard they are: the bands as one bar, and the tasks of the chosen one. */
export function Tasks({ plan }: { readonly plan: Pick<Plan, 'bands'> }) {
  const { band: chosen } = useSearch({ from: '/runs/$run/plan' });
  const rows = tasksOf(plan, chosen);
  const most = Math.max(1, ...plan.bands.map(({ tasks }) => tasks.length));
  const all = plan.bands.reduce((sum, { tasks }) => sum + tasks.length, 0);
  return (
    <Panel title="Tasks by difficulty" hint={`${counted(all, 'task')}; by the share of their rollouts that solve them`}>
      {all > 0 && (
        <div className="bands">
          {plan.bands.map(({ band, tasks }) => (
            <Link
              key={band}
              className={`band band-${band.toLowerCase()}`}
              aria-current={band === chosen ? 'true' : undefined}
              from="/runs/$run/plan"
              to="."
              search={(old) => (band === chosen ? without(old, 'band') : { ...old, band })}
              replace
              resetScroll={false}
              style={{ flexGrow: tasks.length }}
            >
              <i className="band-bar" aria-hidden="true" style={{ '--share': tasks.length / most } as CSSProperties} />
              <span>{band.toLowerCase()}</span> <b>{count(tasks.length)}</b>
            </Link>
          ))}
        </div>
      )}
      <Shortened<Task>
        id="tasks"
        label="Tasks"
        rows={rows}
        columns={COLUMNS}
        keyOf={({ task }) => task}
        empty={<Empty title={all === 0 ? 'No task was tried' : `No task is ${chosen?.toLowerCase()}`} />}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<Task>[] = [
  { id: 'task', title: 'Task', cell: ({ task }) => <Text>{task}</Text> },
  {
    id: 'band',
    title: 'Band',
    cell: ({ band, needsHint }) => (
      <>
        {band.toLowerCase()}
        {needsHint && <small> needs a hint</small>}
      </>
    ),
  },
  {
    id: 'solved',
    title: 'Solved',
    align: 'end',
    cell: ({ successes, attempts }) => `${count(successes)} of ${count(attempts)}`,
  },
  {
    id: 'chance',
    title: 'Chance of success',
    hint: 'Smoothed by a prior, so that few attempts say little',
    align: 'end',
    cell: ({ posteriorMean }) => percent(posteriorMean),
  },
  {
    id: 'learnability',
    title: 'Learnability',
    hint: 'q (1 − q) of the share q of its rollouts that solve it; at most 0.25',
    align: 'end',
    cell: ({ learnability }) => decimal(learnability),
  },
  {
    id: 'mixed',
    title: 'Next group ends both ways',
    hint: 'The chance that its next group carries a signal',
    align: 'end',
    cell: ({ mixedProbability }) => percent(mixedProbability),
  },
];
