import { numbers, type NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE } from '../diagnostic.js';
import { agreeing, count, counted, figure, percent } from '../sentences.js';

const LABELS = [-1, 0, 1] as const;

/** Counts of two raters' labels; they add up over steps. */
export interface LabelCounts {
  /** [labels of A][labels of B] over the turns that both labelled */
  readonly confusion: readonly (readonly number[])[];
  /** turns that A labelled, and of those the ones where B said the same */
  readonly labelled: number;
  readonly equal: number;
  /** trajectories with a label of A */
  readonly records: number;
  /** trajectories whose labels of A are all B's, too */
  readonly exact: number;
  /** trajectories whose first −1 stands at the same turn; none on both sides is the same */
  readonly sameFirstError: number;
}

/**
 * Counts how far two raters agree on labels −1, 0, +1 of turns. A turn that only A labelled is a mismatch, and is left
 * out of the confusion.
 *
 * @param turnOffsets [trajectories + 1]
 * @param a, b [turns] NaN: not labelled
 */
export function labelCounts(turnOffsets: Int32Array, a: NumericValues, b: NumericValues): LabelCounts {
  const pairs = new Int32Array(LABELS.length ** 2);
  let allLabelled = 0;
  let allEqual = 0;
  let records = 0;
  let exact = 0;
  let sameFirstError = 0;
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    const from = turnOffsets[i];
    const to = turnOffsets[i + 1];
    let labelled = 0;
    let equal = 0;
    for (let t = from; t < to; t++) {
      const ofA = a[t];
      const ofB = b[t];
      if (Number.isNaN(ofA)) continue;
      labelled++;
      equal += Number(ofA === ofB);
      // without a branch for each label: nobody can guess which comes next
      const labelOfA = ofA | 0;
      const labelOfB = ofB | 0;
      if (labelOfA !== ofA || labelOfB !== ofB) continue;
      if (isLabel(labelOfA) && isLabel(labelOfB)) pairs[LABELS.length * (labelOfA + 1) + labelOfB + 1]++;
    }
    if (labelled === 0) continue;
    records++;
    allLabelled += labelled;
    allEqual += equal;
    if (labelled === equal) exact++;
    if (haveSameFirstError(a, b, from, to)) sameFirstError++;
  }
  const confusion = LABELS.map((_, row) => LABELS.map((__, column) => pairs[LABELS.length * row + column]));
  return { confusion, labelled: allLabelled, equal: allEqual, records, exact, sameFirstError };
}

const isLabel = (whole: number) => whole >= -1 && whole <= 1;

/** Whether the first −1 of either is one of both; none at all is the same. */
function haveSameFirstError(a: NumericValues, b: NumericValues, from: number, to: number): boolean {
  for (let t = from; t < to; t++) if (a[t] === -1 || b[t] === -1) return a[t] === b[t];
  return true;
}

/**
 * How far two raters agree.
 *
 *     stepAccuracy   equal / labelled by A        exactAccuracy, firstErrorAccuracy   of trajectories
 *     κ = (p_o − p_e) / (1 − p_e)                 Cohen's, over the turns that both labelled; null where p_e = 1
 *     recall, precision, f1 of −1, 0, +1          A is the reference; null for a label that does not occur
 *     macroF1                                     mean of the f1 that are not null
 *
 * Source: RUCBM/AgentProcessBench, compare_user_annotations.py (κ) and eval/compare.py.
 */
export function labelAgreement({ confusion, labelled, equal, records, exact, sameFirstError }: LabelCounts) {
  const rows = confusion.map(sum);
  const columns = LABELS.map((_, k) => sum(confusion.map((row) => row[k])));
  const n = sum(rows);
  const observed = sum(confusion.map((row, k) => row[k])) / n;
  const expected = sum(rows.map((count, k) => (count / n) * (columns[k] / n)));
  const recall = rows.map((count, k) => share(confusion[k][k], count));
  const precision = columns.map((count, k) => share(confusion[k][k], count));
  const f1 = rows.map((count, k) => share(2 * confusion[k][k], count + columns[k]));
  const said = f1.filter((value) => value !== null);
  return {
    stepAccuracy: share(equal, labelled),
    exactAccuracy: share(exact, records),
    firstErrorAccuracy: share(sameFirstError, records),
    kappa: n > 0 && expected < 1 ? (observed - expected) / (1 - expected) : null,
    confusion,
    recall,
    precision,
    f1,
    macroF1: share(sum(said), said.length),
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const share = (part: number, whole: number) => (whole === 0 ? null : part / whole);

function addCounts(a: LabelCounts, b: LabelCounts): LabelCounts {
  return {
    confusion: a.confusion.map((row, i) => row.map((count, k) => count + b.confusion[i][k])),
    labelled: a.labelled + b.labelled,
    equal: a.equal + b.equal,
    records: a.records + b.records,
    exact: a.exact + b.exact,
    sameFirstError: a.sameFirstError + b.sameFirstError,
  };
}

export const labelAgreementDiagnostic = defineDiagnostic({
  id: 'label-agreement',
  version: 1,
  title: 'People and judge on labels',
  question: 'Do the labels of turns say the same, whoever gives them?',
  remedy: 'Make the instructions of the raters plainer, or label by several judges; rank no estimator by weak labels.',
  headline: 'kappa',
  level: 'run',
  status: 'verified',
  source: 'RUCBM/AgentProcessBench compare_user_annotations.py and eval/compare.py; the limit is ours',
  requires: ['turn.humanLabel', 'turn.judgeLabel'],
  accepts: [],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    kappa: z.number().min(-1).max(1).default(0.4).describe('Cohen’s κ: less is a warning'),
  }),

  measure({ trajectories }) {
    const [human, judge] = ['humanLabel', 'judgeLabel'].map((name) => numbers(trajectories, `turn.${name}`));
    const counts = human && judge && labelCounts(trajectories.turnOffsets, human, judge);
    return counts && counts.records > 0 ? counts : null;
  },

  read(steps) {
    const all = steps.map(({ figures }) => figures).reduce(addCounts);
    const { confusion, recall, precision, f1, ...values } = labelAgreement(all);
    const onlyOne = 'only one label was given';
    return {
      values,
      reasons: {
        ...(values.kappa === null && { kappa: onlyOne }),
        ...(values.macroF1 === null && { macroF1: onlyOne }),
      },
      sentence: `people and judge agree on ${percent(values.stepAccuracy ?? 0)} of ${counted(all.labelled, 'labelled turn')}${values.kappa === null ? '' : `, κ ${figure(values.kappa)}`}`,
      steps: steps.map(({ trainingStep, figures }) => {
        const { kappa, stepAccuracy, exactAccuracy, firstErrorAccuracy, macroF1 } = labelAgreement(figures);
        return {
          trainingStep,
          values: { kappa, stepAccuracy, exactAccuracy, firstErrorAccuracy, macroF1 },
          observations: figures.records,
        };
      }),
      evidence: steps
        .filter(({ figures }) => figures.exact < figures.records)
        .sort((a, b) => a.figures.exact / a.figures.records - b.figures.exact / b.figures.records)
        .slice(0, MAX_EVIDENCE)
        .map(({ trainingStep, figures: { exact, records } }) => ({
          trainingStep,
          note: `${count(records - exact)} of ${counted(records, 'trajectory', 'trajectories')} ${agreeing(records - exact, records, 'is', 'are')} labelled differently`,
        })),
      detail: { labels: LABELS, confusion, recall, precision, f1 },
    };
  },

  rules: ({ kappa }) => [
    {
      id: 'weak-labels',
      level: 'warn',
      all: [{ value: 'kappa', op: '<', limit: kappa }],
      says: `people and judge agree with κ below ${figure(kappa)}: too weak to rank estimators by`,
    },
  ],
});
