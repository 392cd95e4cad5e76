import type { NumericValues, TrajectoryBatch } from '#lib/dataset';

/** Agreement of a judge's step labels with the reference's. A share is null where nothing is counted. */
export interface LabelAgreement {
  /** trajectories */
  readonly records: number;
  /** reference labels */
  readonly stepTotal: number;
  readonly stepMatches: number;
  /** matching labels / reference labels; a label that the judge did not give is no match */
  readonly stepAcc: number | null;
  /** share of trajectories whose labels are all the same, on the same turns */
  readonly trajectoryExactAcc: number | null;
  /** share of trajectories whose first −1 stands at the same turn; none on both sides is the same */
  readonly firstErrorAcc: number | null;
  /** share of trajectories whose judgement failed */
  readonly missingOrFailedRatio: number | null;
}

export interface AgentProcessBench {
  readonly byDataset: Readonly<Record<string, LabelAgreement>>;
  /** of all records: sums, not the mean of the data sets */
  readonly pooled: LabelAgreement;
  /** [trajectories] the first turn labelled −1 by the reference and by the judge; −1: none */
  readonly firstErrorTurn: readonly (readonly [reference: number, judge: number])[];
  /** the labels that rows and columns of the confusion stand for */
  readonly labels: readonly number[];
  /** [labels][labels] how often a reference label (row) was judged so (column); labels that were not given are left out */
  readonly confusion: readonly (readonly number[])[];
  /** [labels] share of a reference label that was judged so, of those judged at all */
  readonly recall: readonly (number | null)[];
  /** mean over the labels that occur of 2 TP / (reference + judged) */
  readonly macroF1: number | null;
}

/** What one trajectory adds to the sums. */
interface Counted {
  readonly stepTotal: number;
  readonly stepMatches: number;
  readonly isExact: boolean;
  readonly firstErrors: readonly [number, number];
  readonly hasFailed: boolean;
}

/**
 * AgentProcessBench: labels of turns, +1 advances the task, 0 neutral, −1 wrong or harmful, against a reference.
 *
 * A failed judgement has no −1, so it scores a first-error hit on every trajectory without errors: read
 * `missingOrFailedRatio` beside it. Source: RUCBM/AgentProcessBench, its compare script @0a42606.
 *
 * @param reference, judged [turns] NaN: not labelled
 * @param dataset [trajectories] where a record comes from; null: unnamed
 * @param failed [trajectories] flags
 */
export function agentProcessBench(
  { turnOffsets }: Pick<TrajectoryBatch, 'turnOffsets'>,
  reference: NumericValues,
  judged: NumericValues,
  dataset: readonly (string | null)[],
  failed: readonly boolean[],
  labels: readonly number[] = [-1, 0, 1],
): AgentProcessBench {
  const counted = dataset.map((_, i) =>
    countTrajectory(turnOffsets[i], turnOffsets[i + 1], reference, judged, failed[i]),
  );
  const names = [...new Set(dataset)];
  const ofName = (name: string | null) => counted.filter((_, i) => dataset[i] === name);
  const confusion = labels.map((row) => labels.map((column) => countPairs(reference, judged, row, column)));
  return {
    byDataset: Object.fromEntries(names.map((name) => [name ?? 'unnamed', agreement(ofName(name))])),
    pooled: agreement(counted),
    firstErrorTurn: counted.map(({ firstErrors }) => firstErrors),
    labels,
    confusion,
    recall: confusion.map((row, k) => share(row[k], sum(row))),
    macroF1: macroF1(confusion),
  };
}

function countTrajectory(
  from: number,
  to: number,
  reference: NumericValues,
  judged: NumericValues,
  hasFailed: boolean,
): Counted {
  let [stepTotal, stepMatches, isExact] = [0, 0, true];
  const firstErrors: [number, number] = [-1, -1];
  for (let t = from; t < to; t++) {
    const isLabelled = !Number.isNaN(reference[t]);
    const agrees = reference[t] === judged[t];
    if (isLabelled) stepTotal++;
    if (agrees) stepMatches++;
    if (!agrees && (isLabelled || !Number.isNaN(judged[t]))) isExact = false;
    if (reference[t] === -1 && firstErrors[0] < 0) firstErrors[0] = t - from;
    if (judged[t] === -1 && firstErrors[1] < 0) firstErrors[1] = t - from;
  }
  return { stepTotal, stepMatches, isExact, firstErrors, hasFailed };
}

function agreement(counted: readonly Counted[]): LabelAgreement {
  const records = counted.length;
  const stepTotal = sum(counted.map((each) => each.stepTotal));
  const stepMatches = sum(counted.map((each) => each.stepMatches));
  const shareOf = (claim: (each: Counted) => boolean) => share(counted.filter(claim).length, records);
  return {
    records,
    stepTotal,
    stepMatches,
    stepAcc: share(stepMatches, stepTotal),
    trajectoryExactAcc: shareOf(({ isExact }) => isExact),
    firstErrorAcc: shareOf(({ firstErrors: [a, b] }) => a === b),
    missingOrFailedRatio: shareOf(({ hasFailed }) => hasFailed),
  };
}

function countPairs(reference: NumericValues, judged: NumericValues, row: number, column: number): number {
  let count = 0;
  for (let t = 0; t < reference.length; t++) if (reference[t] === row && judged[t] === column) count++;
  return count;
}

function macroF1(confusion: readonly (readonly number[])[]): number | null {
  const scores = confusion.flatMap((row, k) => {
    const both = sum(row) + sum(confusion.map((other) => other[k]));
    return both === 0 ? [] : [(2 * row[k]) / both];
  });
  return share(sum(scores), scores.length);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const share = (part: number, of: number) => (of === 0 ? null : part / of);
