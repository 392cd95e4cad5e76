import type { Confined } from '#lib/access';
import type { StreamColumn, TableRow } from '#lib/columnar';
import type { StepValues, Values } from '#lib/diagnostics';
import { alertsOfRuns, NEWEST_ALERT } from '../diagnostics/diagnostic.reader.js';
import { keptPlans } from '../plans/plan.reader.js';

/** What the last diagnosis of a run says, as rows. A run that was not diagnosed yet has none. */
interface DiagnosisTable {
  readonly columns: readonly StreamColumn[];
  pages(db: Confined, runId: string): AsyncGenerator<readonly TableRow[]>;
}

const columns = (types: Readonly<Record<string, StreamColumn['type']>>) =>
  Object.entries(types).map(([name, type]): StreamColumn => ({ name, type }));

/** By the name of the file without `.arrow` (docs/guides/arrow-columns.md). */
export const DIAGNOSIS_TABLES = {
  diagnostics: {
    columns: columns({ diagnostic: 'text', trainingStep: 'integer', name: 'text', value: 'number', observations: 'integer' }), // prettier-ignore
    pages: diagnosticPages,
  },
  alerts: {
    columns: columns({
      alert: 'text',
      diagnostic: 'text',
      rule: 'text',
      level: 'text',
      says: 'text',
      saw: 'text',
      openedStep: 'integer',
      openedAt: 'text',
      closedStep: 'integer',
      closedAt: 'text',
    }),
    pages: alertPages,
  },
  plan: {
    columns: columns({
      kind: 'text',
      task: 'text',
      band: 'text',
      attempts: 'integer',
      successes: 'integer',
      chance: 'number',
      learnability: 'number',
      mixedProbability: 'number',
      needsHint: 'integer',
      lastRollouts: 'integer',
      rollouts: 'integer',
      advice: 'text',
      trajectory: 'text',
      trainingStep: 'integer',
      prefixTurns: 'integer',
      size: 'integer',
      share: 'number',
      score: 'number',
      fault: 'text',
    }),
    pages: planPages,
  },
} satisfies Readonly<Record<string, DiagnosisTable>>;

/** One page per diagnostic, in the order of the catalogue; its values of the run, without a training step, come first. */
async function* diagnosticPages(db: Confined, runId: string): AsyncGenerator<TableRow[]> {
  const names = await db.query<{ diagnostic: string }>(
    `select diagnostic from diagnostic_reading where run_id = $1 order by place`,
    [runId],
  );
  for (const { diagnostic } of names) {
    const found = await db.query<{ values: Values; parts: readonly (readonly StepValues[])[] }>(
      `select reading -> 'values' as values, array(
         select steps from diagnostic_reading_part where run_id = $1 and diagnostic = $2 order by part
       ) as parts
       from diagnostic_reading where run_id = $1 and diagnostic = $2`,
      [runId, diagnostic],
    );
    const rows = (values: Values, more: TableRow = {}) =>
      Object.entries(values).map(([name, value]): TableRow => ({ diagnostic, name, value, ...more }));
    yield found.flatMap(({ values, parts }) => [
      ...rows(values),
      ...parts
        .flat()
        .flatMap((step) => rows(step.values, { trainingStep: step.trainingStep, observations: step.observations })),
    ]);
  }
}

const PAGE = 500;

/** Newest first. */
async function* alertPages(db: Confined, runId: string): AsyncGenerator<TableRow[]> {
  for (let after: Parameters<typeof alertsOfRuns>[3] = null; ;) {
    const alerts = await alertsOfRuns(db, [runId], PAGE, after, { isOpen: null });
    yield alerts.map(({ id, saw, openedAt, closedAt, of: _run, ...alert }) => ({
      alert: id,
      ...alert,
      saw: JSON.stringify(saw),
      openedAt: openedAt.toISOString(),
      closedAt: closedAt?.toISOString() ?? null,
    }));
    const last = alerts.at(-1);
    if (!last || alerts.length < PAGE) return;
    after = NEWEST_ALERT.keyOf(last);
  }
}

/** A row per task, then per state to return to, then per way to fail: `kind` tells them apart. */
async function* planPages(db: Confined, runId: string): AsyncGenerator<TableRow[]> {
  const [{ bands, budget, drop, restarts, failures }] = await keptPlans(db, [runId]);
  const shares = new Map(budget?.shares.map((share) => [share.task, share]));
  const advice = new Map(drop.map((task) => [task.task, task.advice]));
  yield bands.flatMap(({ band, tasks }) =>
    tasks.map(({ posteriorMean: chance, ...task }): TableRow => {
      const { rollouts, lastRollouts } = shares.get(task.task) ?? {};
      return { kind: 'task', ...task, band, chance, rollouts, lastRollouts, advice: advice.get(task.task) };
    }),
  );
  yield restarts.map(
    ({ success: chance, continuations: attempts, reason, ...restart }): TableRow => ({ kind: 'restart', ...restart, chance, attempts, advice: reason }), // prettier-ignore
  );
  yield failures.map(
    ({ representative: trajectory, tasks, ...failure }): TableRow => ({ kind: 'failure', ...failure, trajectory, task: tasks.length === 1 ? tasks[0] : null }), // prettier-ignore
  );
}
