import { agreementSums, estimatorAgreement, rankAgreement, rankedColumn } from './estimator-agreement.js';
import type { Sample } from './sample.js';
import { pairName, pairsOf } from './sums.js';
import { MAX_TAG_VALUES } from './tags.js';

/** How two estimators agree about the turns of some trajectories. */
export interface TaggedPair {
  readonly a: string;
  readonly b: string;
  /** turns of which both speak */
  readonly n: number;
  readonly pearson: number | null;
  readonly spearman: number | null;
  readonly signAgreement: number | null;
  /** opposite signs */
  readonly flipCount: number;
}

/** The agreement of all pairs among the trajectories of which a tag says the same. */
export interface TagAgreement {
  readonly tag: string;
  /** null: why not */
  readonly values:
    | readonly {
        readonly value: string;
        readonly trajectories: number;
        readonly turns: number;
        readonly pairs: readonly TaggedPair[];
      }[]
    | null;
  readonly reason?: string;
}

/** Pairs over all values of all tags: those of tags beyond that, by name, are left out and said to be. */
const MAX_ROWS = 4_000;

/** The agreement matrices by every tag, from the sample. */
export function tagAgreements(sample: Sample): TagAgreement[] {
  let rows = 0;
  return sample.tags.map(([tag, { values, of }]): TagAgreement => {
    if (values === null) return { tag, values, reason: `it says more than ${MAX_TAG_VALUES} different things` };
    const pairs = (sample.credits.length * (sample.credits.length - 1)) / 2;
    if (rows + pairs * values.length > MAX_ROWS) {
      return {
        tag,
        values: null,
        reason: `${pairs} pairs by ${values.length} values would be too much beside other tags`,
      };
    }
    rows += pairs * values.length;
    return { tag, values: values.map((value, at) => ({ value, ...agreementAmong(sample, (i) => of[i] === at) })) };
  });
}

function agreementAmong({ turnOffsets, credits }: Sample, isMember: (trajectory: number) => boolean) {
  const members = [...turnOffsets.keys()].slice(0, -1).filter(isMember);
  const turns = members.reduce((sum, i) => sum + turnOffsets[i + 1] - turnOffsets[i], 0);
  const ranked = credits.map(([name, column]) => {
    const own = new Float64Array(turns);
    let at = 0;
    for (const i of members) {
      own.set(column.subarray(turnOffsets[i], turnOffsets[i + 1]), at);
      at += turnOffsets[i + 1] - turnOffsets[i];
    }
    return [name, rankedColumn(own)] as const;
  });
  const pairs = pairsOf(ranked).map(([[left, x], [right, y]]): TaggedPair => {
    const sums = agreementSums(x.values, y.values);
    const found = estimatorAgreement(pairName(left, right), sums, rankAgreement(x, y));
    const { a, b, n, pearson, spearman, signAgreement, flipCount } = found;
    return { a, b, n, pearson, spearman, signAgreement, flipCount };
  });
  return { trajectories: members.length, turns, pairs };
}
