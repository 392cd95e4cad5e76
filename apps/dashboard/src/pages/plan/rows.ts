import type { Plan } from './queries.js';

export type Band = Plan['bands'][number]['band'];
export type Task = Plan['bands'][number]['tasks'][number] & { readonly band: Band };
export type Share = NonNullable<Plan['budget']>['shares'][number];

/** Tasks of one band, or of all of them, the most learnable first. */
export function tasksOf({ bands }: Pick<Plan, 'bands'>, wanted: string | undefined): Task[] {
  return bands
    .filter(({ band }) => wanted === undefined || band === wanted)
    .flatMap(({ band, tasks }) => tasks.map((task) => ({ ...task, band })))
    .sort((a, b) => b.learnability - a.learnability || a.task.localeCompare(b.task));
}

/** What should get more or fewer rollouts than it had, the largest change first. */
export function movesOf({ budget }: Pick<Plan, 'budget'>): Share[] {
  const change = ({ rollouts, lastRollouts }: Share) => Math.abs(rollouts - lastRollouts);
  return (budget?.shares ?? []).filter((share) => change(share) > 0).sort((a, b) => change(b) - change(a));
}
