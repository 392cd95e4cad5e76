import { comparisonTable, type Comparison, type ComparisonRow } from '#lib/diagnostics';
import { compact, count, counted, decimal, percent } from './numbers.js';
import { formatTable, onOneLine } from './table.js';

/** How many groups can teach anything, in one sentence. */
export function signalText({ groups, groupsWithSignal }: Pick<Comparison, 'groups' | 'groupsWithSignal'>): string {
  return `${count(groupsWithSignal)} of the ${counted(groups, 'group')} carry a signal`;
}

/** What was compared. */
export function scopeText(comparison: Comparison): string {
  const { trajectories, turns, successRate, sample } = comparison;
  const success = successRate === null ? '' : `, ${percent(successRate)} successful`;
  const sampled = sample.sampled ? `; ranks and intervals from a sample of ${counted(sample.turns, 'turn')}` : '';
  return `${counted(trajectories, 'trajectory', 'trajectories')}, ${counted(turns, 'turn')}${success}${sampled}`;
}

/** A row per estimator, the best agreement with the truth first. */
export function estimatorsText(comparison: Comparison): string {
  const { truth, isLabel, rows } = comparisonTable(comparison);
  if (truth === null) return profilesText(rows);
  if (isLabel) return `${profilesText(rows)}\n\n${labelsText(truth, rows)}`;
  return formatTable(
    [
      ['', 'turns with', 'within', { over: 4, text: `agreement with ${truth}` }],
      ['estimator', 'credit', 'trajectories', 'Spearman', '90 % interval', 'AUC', 'pairs in order'],
    ],
    rows.map((row) => [
      row.estimator,
      percent(row.signalDensity),
      percent(row.withinTrajectoryShare),
      decimal(row.spearman),
      row.low === null ? '' : `${decimal(row.low)} to ${decimal(row.high)}`,
      decimal(row.auc),
      percent(row.withinTrajectoryPairAccuracy),
    ]),
    ['left', 'right', 'right', 'right', 'right', 'right', 'right'],
  );
}

function profilesText(rows: readonly ComparisonRow[]): string {
  return formatTable(
    [['estimator', 'turns with credit', 'within trajectories', 'mean', 'std', 'groups']],
    rows.map((row) => [
      row.estimator,
      percent(row.signalDensity),
      percent(row.withinTrajectoryShare),
      compact(roundedMean(row)),
      compact(row.std),
      count(row.groupsWithSignal),
    ]),
    ['left', 'right', 'right', 'right', 'right', 'right'],
  );
}

/** The pairs of a trajectory first: an outcome alone already has an AUC above ½, but half of the pairs in order. */
function labelsText(truth: string, rows: readonly ComparisonRow[]): string {
  return formatTable(
    [
      ['', { over: 4, text: `agreement with ${truth}, 90 % intervals` }, { over: 2, text: 'first error' }],
      ['estimator', 'pairs in order', 'AUC', 'in mixed groups', 'Spearman', 'found', 'by chance'],
    ],
    rows.map(({ estimator, against }) => [
      estimator,
      shareWithin(against, 'withinTrajectoryPairAccuracy'),
      numberWithin(against, 'auc'),
      numberWithin(against, 'aucMixedGroups'),
      numberWithin(against, 'spearman'),
      shareWithin(against, 'firstErrorHit'),
      percent(against?.firstErrorChance),
    ]),
    ['left', 'right', 'right', 'right', 'right', 'right', 'right'],
  );
}

type Against = ComparisonRow['against'];
type Measure = keyof NonNullable<Against>['intervals'];

/** 0.70 (0.66 to 0.76) */
function numberWithin(against: Against, measure: Measure): string {
  return decimal(against?.[measure]) + within(against, measure, (limit) => decimal(limit));
}

/** 29 % (22 to 36) */
function shareWithin(against: Against, measure: Measure): string {
  return percent(against?.[measure]) + within(against, measure, (limit) => decimal(100 * limit, 0));
}

/** Nothing where there is no interval, as in a comparison that is older than the number. */
function within(against: Against, measure: Measure, write: (limit: number) => string): string {
  const intervals: Partial<NonNullable<Against>['intervals']> = against?.intervals ?? {};
  const { low = null, high = null } = intervals[measure] ?? {};
  return low === null || high === null ? '' : ` (${write(low)} to ${write(high)})`;
}

/** How each pair of estimators agrees, in the order of the table. */
export function agreementText(comparison: Comparison): string {
  const { rows, agreement } = comparisonTable(comparison);
  const numbered = rows.map(({ estimator }, i) => `${i + 1} ${estimator}`);
  return formatTable(
    [['Spearman', ...rows.map((_, i) => String(i + 1))]],
    agreement.map((line, i) => [numbered[i], ...line.map((value, j) => (i === j ? '' : decimal(value)))]),
    ['left', ...rows.map(() => 'right' as const)],
  );
}

/** A turn that two estimators judge with opposite signs, and what it was when that is known. */
export function disputedText(
  { trajectory, turn, a, b, values }: Comparison['disputed'][number],
  text: { readonly state: string; readonly action: string } | null,
): string {
  const said = (estimator: string) => `${estimator} ${signed(values[estimator])}`;
  const head = `${trajectory}, turn ${turn}: ${said(a)}, ${said(b)}`;
  if (!text) return head;
  return [head, `    saw  ${onOneLine(text.state, 96)}`, `    did  ${onOneLine(text.action, 96)}`].join('\n');
}

/** What rounding left of a mean of 0 is no number to show. */
function roundedMean({ mean, std }: { readonly mean: number | null; readonly std: number | null }): number | null {
  return mean !== null && std !== null && Math.abs(mean) < 1e-9 * std ? 0 : mean;
}

function signed(value: number | null | undefined): string {
  return typeof value === 'number' && value > 0 ? `+${decimal(value)}` : decimal(value);
}
