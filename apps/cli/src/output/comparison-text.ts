import { sparkline } from '#app/example-trainer';
import {
  comparisonTable,
  type Comparison,
  type ComparisonRow,
  type TagAgreement,
  type TaggedPair,
} from '#lib/diagnostics';
import type { ShownDispute } from '../client/disputed-turns.js';
import { compact, count, counted, decimal, NOTHING, percent } from './numbers.js';
import { formatTable, onOneLine } from './table.js';

/** How many groups can teach anything, in one sentence. */
export function signalText({ groups, groupsWithSignal }: Pick<Comparison, 'groups' | 'groupsWithSignal'>): string {
  const carry = groupsWithSignal === 1 || groups === 1 ? 'carries' : 'carry';
  return `${count(groupsWithSignal)} of the ${counted(groups, 'group')} ${carry} a signal`;
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
  if (rows.length === 0) return 'there is nothing to compare: no estimator said anything';
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

type Measure = keyof NonNullable<ComparisonRow['against']>['intervals'];

/** Numbers, each with its interval. */
type Scores<Name extends string> = Readonly<Record<Name, number | null>> & {
  readonly intervals: Readonly<Partial<Record<Name, { readonly low: number | null; readonly high: number | null }>>>;
};

/** 0.70 (0.66 to 0.76) */
function numberWithin<Name extends Measure>(scores: Scores<Name> | null, name: Name): string {
  return decimal(scores?.[name]) + within(scores, name, (limit) => decimal(limit));
}

/** 29 % (22 to 36) */
function shareWithin<Name extends Measure>(scores: Scores<Name> | null, name: Name): string {
  return percent(scores?.[name]) + within(scores, name, (limit) => decimal(100 * limit, 0));
}

/** Nothing where there is no interval, as in a comparison that is older than the number. */
function within<Name extends Measure>(
  scores: Scores<Name> | null,
  name: Name,
  write: (limit: number) => string,
): string {
  const { low = null, high = null } = scores?.intervals[name] ?? {};
  return low === null || high === null ? '' : ` (${write(low)} to ${write(high)})`;
}

const MATRICES = {
  spearman: { title: 'Spearman', shown: (value: number | null) => decimal(value) },
  flipShare: { title: 'opposite signs', shown: (value: number | null) => percent(value) },
  gradientCosine: { title: 'cosine of updates', shown: (value: number | null) => decimal(value) },
} as const;

/** How each pair of estimators agrees, in the order of the table; nothing where no pair has the number. */
export function agreementText(comparison: Comparison, measure: keyof typeof MATRICES = 'spearman'): string {
  const { rows, agreement } = comparisonTable(comparison, { measure });
  const { title, shown } = MATRICES[measure];
  if (agreement.every((line, i) => line.every((value, j) => i === j || value === null))) return '';
  const numbered = rows.map(({ estimator }, i) => `${i + 1} ${estimator}`);
  return formatTable(
    [[title, ...rows.map((_, i) => String(i + 1))]],
    agreement.map((line, i) => [numbered[i], ...line.map((value, j) => (i === j ? '' : shown(value)))]),
    ['left', ...rows.map(() => 'right' as const)],
  );
}

/** Where in a trajectory each estimator puts its credit, how far that hangs on the other rollouts, and which way it pushes. */
export function creditText(comparison: Comparison): string {
  const byId = new Map(comparison.estimators.map((row) => [row.id, row]));
  const { rows, truth } = comparisonTable(comparison);
  if (rows.length === 0) return '';
  const cosine = new Map(comparison.truths.filter(({ signal }) => signal === truth).map((row) => [row.estimator, row]));
  return [
    formatTable(
      [
        [
          '',
          { over: 4, text: 'credit of a trajectory' },
          { over: 2, text: 'one rollout less' },
          { over: 2, text: 'update' },
        ],
        ['estimator', 'Gini', 'turns', 'last turn', 'by turn', 'error', 'signs turn', 'push', 'cosine'],
      ],
      rows.map(({ estimator }) => {
        const { gini, effectiveTurns, lastShare, meanAbsByTurn, countByTurn, stability, gradient } =
          byId.get(estimator)!;
        return [
          `${estimator}${stability?.leftOut === 'groups' ? ' *' : ''}`,
          decimal(gini),
          decimal(effectiveTurns, 1),
          percent(lastShare),
          profileBars(meanAbsByTurn, countByTurn),
          percent(stability?.relativeInstability),
          percent(stability?.signUnstableShare),
          decimal(gradient?.push),
          decimal(cosine.get(estimator)?.gradientCosine),
        ];
      }),
      ['left', 'right', 'right', 'right', 'left', 'right', 'right', 'right', 'right'],
    ),
    '',
    ...creditLegend(comparison, truth),
  ].join('\n');
}

function creditLegend({ estimators }: Comparison, truth: string | null): string[] {
  const isStable = estimators.some(({ stability }) => stability && stability.turns > 0);
  const acrossGroups = estimators.some(({ stability }) => stability?.leftOut === 'groups');
  const isPushed = estimators.some(({ gradient }) => gradient?.from);
  return [
    'Gini: 0 where credit is spread evenly over the turns, towards 1 where it lies on one of them; "turns" is as many as',
    'would carry it evenly, "by turn" how large it is on the first turn, the second and so on.',
    ...(isStable ? ['error: how far credit moves when one rollout of the group is left out, of its mean size.'] : []),
    ...(acrossGroups ? ['*: compares groups with each other, so a tenth of the groups is left out instead.'] : []),
    ...(isPushed ? ['push: 1 if the update makes all that was done likelier, −1 if less likely, 0 in balance.'] : []),
    ...(isPushed && truth
      ? [`cosine: 1 if the update goes where that of ${truth} goes, 0 if it has nothing of it.`]
      : []),
  ];
}

const BAR_COLUMNS = 16;

/** The mean |credit| by turn as bars, the highest of them full; several turns share a bar where there are many. */
function profileBars(means: readonly (number | null)[], counts: readonly number[]): string {
  const width = Math.ceil(means.length / BAR_COLUMNS) || 1;
  const bars = Array.from({ length: Math.ceil(means.length / width) }, (_, bar) => {
    const at = Array.from({ length: width }, (_unused, i) => bar * width + i).filter((turn) => turn < means.length);
    const count = at.reduce((sum, turn) => sum + counts[turn], 0);
    return count > 0 ? at.reduce((sum, turn) => sum + (means[turn] ?? 0) * counts[turn], 0) / count : 0;
  });
  const highest = Math.max(...bars, 0);
  return highest > 0 ? sparkline(bars.map((bar) => bar / highest)) : '';
}

/** What the score of each estimator becomes when the labels of one annotator are left out. */
export function annotatorsText({ annotators = [], estimators: compared }: Comparison): string[] {
  if (compared.length === 0) return [];
  return annotators.map(({ signal, annotators: raters, estimators }) => {
    const leftOut = estimators[0]?.without.length ?? 0;
    return formatTable(
      [
        ['', { over: 2, text: `pairs in order, ${signal}` }, { over: 2, text: 'AUC' }],
        [
          'estimator',
          `most of ${counted(raters.length, 'annotator')}`,
          `${counted(leftOut, 'time')} one less`,
          'most',
          'one less',
        ],
      ],
      estimators.map(({ estimator, consensus, without }) => [
        estimator,
        shareWithin(consensus, 'withinTrajectoryPairAccuracy'),
        rangeOf(
          without.map((score) => score.withinTrajectoryPairAccuracy),
          percent,
        ),
        numberWithin(consensus, 'auc'),
        rangeOf(
          without.map((score) => score.auc),
          decimal,
        ),
      ]),
      ['left', 'right', 'right', 'right', 'right'],
    );
  });
}

/** From the least to the greatest. */
function rangeOf(values: readonly (number | null)[], shown: (value: number | null) => string): string {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? NOTHING : `${shown(Math.min(...known))} to ${shown(Math.max(...known))}`;
}

/** How every pair agrees where a tag says the same: Spearman, and the share of opposite signs. */
export function tagText(tag: string, values: NonNullable<TagAgreement['values']>): string {
  const [first] = values;
  const head = (title: string) => [title, ...values.map(({ value }) => onOneLine(value, 24))];
  const alignment = ['left', ...values.map(() => 'right' as const)] as const;
  const table = (title: string, shown: (pair: TaggedPair) => string) =>
    formatTable(
      [head(title)],
      first.pairs.map(({ a, b }, i) => [`${a}, ${b}`, ...values.map(({ pairs }) => shown(pairs[i]))]),
      alignment,
    );
  return [
    formatTable([head(tag)], [['trajectories', ...values.map(({ trajectories }) => count(trajectories))], ['turns', ...values.map(({ turns }) => count(turns))]], alignment), // prettier-ignore
    ...(first.pairs.length > 0
      ? [
          table('Spearman', ({ spearman }) => decimal(spearman)),
          table('opposite signs', ({ flipCount, n }) => percent(n > 0 ? flipCount / n : null)),
        ]
      : []),
  ].join('\n\n');
}

/** A turn that two estimators judge with opposite signs, and what it was when that is known. */
export function disputedText({ trajectory, turn, a, b, values, recorded }: ShownDispute): string {
  const said = (estimator: string) => `${estimator} ${signed(values[estimator])}`;
  const head = `${trajectory}, turn ${turn}: ${said(a)}, ${said(b)}`;
  if (!recorded) return head;
  return [head, `    saw  ${onOneLine(recorded.state, 96)}`, `    did  ${onOneLine(recorded.action, 96)}`].join('\n');
}

/** What rounding left of a mean of 0 is no number to show. */
function roundedMean({ mean, std }: { readonly mean: number | null; readonly std: number | null }): number | null {
  return mean !== null && std !== null && Math.abs(mean) < 1e-9 * std ? 0 : mean;
}

function signed(value: number | null | undefined): string {
  return typeof value === 'number' && value > 0 ? `+${decimal(value)}` : decimal(value);
}
