import { rankAgreement, type Agreement } from './matrix-cells.js';
import type { Comparison } from './queries.js';

type Pair = Pick<Comparison['pairs'][number], 'pearson' | 'spearman' | 'signAgreement' | 'gradientCosine'>;

interface PairMeasureText {
  readonly title: string;
  readonly hint: string;
  readonly agreement: (pair: Pair) => Agreement | null;
}

/** What each two estimators can be held against each other by. */
export const PAIR_MEASURES = {
  spearman: { title: 'Spearman', hint: 'rank correlation of each two', agreement: rankAgreement },
  pearson: {
    title: 'Pearson',
    hint: 'linear correlation of each two',
    agreement: ({ pearson }) => from(pearson, 0),
  },
  signAgreement: {
    title: 'Equal signs',
    hint: 'of the turns on which both say something else than 0; chance is about 0.5',
    agreement: ({ signAgreement }) => from(signAgreement, 0.5),
  },
  gradientCosine: {
    title: 'Same update',
    hint: 'cosine of the policy gradients that both give; 1: the same but for its size',
    agreement: ({ gradientCosine }) => from(gradientCosine, 0),
  },
} satisfies Readonly<Record<string, PairMeasureText>>;
export type PairMeasure = keyof typeof PAIR_MEASURES;

const ALL = Object.keys(PAIR_MEASURES) as PairMeasure[];

/** Those that any pair has: the gradient takes log-probabilities of tokens. */
export function knownMeasures(pairs: readonly Pair[]): PairMeasure[] {
  return ALL.filter((measure) => measure === 'spearman' || pairs.some((pair) => pair[measure] !== null));
}

function from(value: number | null, chance: number): Agreement | null {
  return value === null ? null : { value, share: (value - chance) / (1 - chance) };
}
