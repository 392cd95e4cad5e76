import { numbers, type SignalColumn, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import type { Measured } from '../diagnostic.js';
import { mean } from '../groups.js';
import { figure, percent } from '../sentences.js';
import { stepwise, type StepMeasure } from '../stepwise.js';
import { CREDIT_SIGNALS, creditNote, tokenCredit } from '../token-credit.js';
import type { CreditedTokens } from './entropy-covariance.js';

export interface LowProbabilityOptions {
  /** probabilities, ascending */
  readonly thresholds: readonly number[];
  /** words in lower case */
  readonly sparks: readonly string[];
  /** of the tokens with A < 0: the least probable, which Lp-Reg looks at */
  readonly negativeFraction: number;
}

/**
 * Whether rare tokens survive; p = e^logprob.
 *
 *     share               tokens with p < τ / tokens
 *     negativePressure    Σ max(−A, 0) / Σ |A| over them
 *     spark…              tokens whose trimmed text in lower case is one of `sparks`: per thousand, their mean p, the
 *                         share with p below the largest τ, their negative pressure
 *     regularisedCount    what Lp-Reg would touch before its own test: k = ⌊negativeFraction · #(A < 0)⌋, 0 unless k > 1
 *
 * Source: CarlanLark/Lp-Reg-dev core_algos.py (k); thresholds and words are ours.
 *
 * @param texts of the tokens; null: not recorded, so there are no sparks
 */
export function lowProbabilityTokens(
  { credit, logprob, mask, texts }: CreditedTokens & { readonly texts: readonly (string | null)[] | null },
  { thresholds, sparks, negativeFraction }: LowProbabilityOptions,
) {
  const logThresholds = Float64Array.from(thresholds, (p) => Math.log(p));
  const most = logThresholds.length - 1;
  // [thresholds] of the tokens between this threshold and the one below
  const [counts, sums, pushed, mass] = Array.from({ length: 4 }, () => new Float64Array(logThresholds.length));
  const spark = { count: 0, probability: 0, low: 0, pushed: 0, mass: 0 };
  const isSpark = sparkTest(sparks);
  let [tokenCount, negatives] = [0, 0];
  for (let k = 0; k < logprob.length; k++) {
    const a = credit[k];
    const l = logprob[k];
    if ((mask !== null && mask[k] === 0) || a !== a || l !== l) continue;
    tokenCount++;
    if (a < 0) negatives++;
    if (l < logThresholds[most]) {
      let at = most;
      while (at > 0 && l < logThresholds[at - 1]) at--;
      counts[at]++;
      sums[at] += a;
      mass[at] += Math.abs(a);
      if (a < 0) pushed[at] -= a;
    }
    if (texts !== null && isSpark(texts[k])) {
      spark.count++;
      spark.probability += Math.exp(l);
      if (l < logThresholds[most]) spark.low++;
      spark.mass += Math.abs(a);
      if (a < 0) spark.pushed -= a;
    }
  }
  for (const column of [counts, sums, pushed, mass]) for (let i = 1; i <= most; i++) column[i] += column[i - 1];
  const share = (part: number, whole: number) => (whole > 0 ? part / whole : null);
  const regularised = Math.floor(negatives * negativeFraction);
  return {
    tokenCount,
    byThreshold: thresholds.map((threshold, i) => ({
      threshold,
      count: counts[i],
      share: share(counts[i], tokenCount),
      meanAdvantage: share(sums[i], counts[i]),
      negativePressure: share(pushed[i], mass[i]),
    })),
    sparkCount: spark.count,
    sparkPerThousand: tokenCount > 0 ? (1000 * spark.count) / tokenCount : null,
    sparkMeanProb: share(spark.probability, spark.count),
    sparkLowProbShare: share(spark.low, spark.count),
    sparkNegativePressure: share(spark.pushed, spark.mass),
    regularisedCount: regularised > 1 ? regularised : 0,
  };
}

const SPACE = 32;

/** Whether the trimmed text in lower case is one of the words; the first two letters tell of nearly every token that it is not. */
function sparkTest(sparks: readonly string[]): (text: string | null) => boolean {
  const words = new Set(sparks);
  const beginnings = new Uint8Array(1 << 10);
  for (const word of sparks) beginnings[letters(word, 0)] = 1;
  const isPlain = sparks.every((word) => /^[a-z]{2}/.test(word));
  return (text) => {
    if (text === null || text.length === 0) return false;
    const at = text.charCodeAt(0) === SPACE && text.length > 1 ? 1 : 0;
    const code = text.charCodeAt(at);
    if (isPlain && code > SPACE && code < 128 && beginnings[letters(text, at)] === 0) return false;
    return words.has(text.trim().toLowerCase());
  };
}

/** Two letters as a number, large and small ones alike. */
const letters = (text: string, at: number) => ((text.charCodeAt(at) & 31) << 5) | (text.charCodeAt(at + 1) & 31);

function textsOf(column: SignalColumn | undefined): readonly (string | null)[] | null {
  return column?.kind === 'text' ? column.values : null;
}

const THRESHOLDS = [0.01, 0.05, 0.1];
const SPARKS = ['wait', 'however', 'perhaps', 'maybe', 'alternatively', 'hmm'];
/** First steps that survival is measured against. */
const BASELINE = 5;

export const lowProbabilityTokensDiagnostic = stepwise({
  id: 'low-probability-tokens',
  version: 1,
  title: 'Survival of rare tokens',
  question: 'Are rare but useful tokens being pushed out?',
  remedy:
    'Shield low-probability tokens from penalties (Lp-Reg), clip their negative advantages, raise the upper clip.',
  headline: 'share',
  level: 'trainingStep',
  status: 'own',
  source: 'selection: CarlanLark/Lp-Reg-dev core_algos.py; thresholds, words and survival ours',
  requires: ['token.logprob'],
  accepts: [...CREDIT_SIGNALS, 'token.text', 'token.mask'],
  metrics: [],
  needs: 'tokens with an advantage: loggedAdvantage, or outcomes',
  params: z.strictObject({
    sparks: z.array(z.string().toLowerCase()).default(SPARKS).describe('words that open another line of thought'),
    negativeFraction: z.number().min(0).max(1).default(0.01).describe('of the punished tokens: what Lp-Reg looks at'),
  }),
  thresholds: z.strictObject({
    survival: z.number().min(0).max(1).default(0.3).describe('of the first steps’ share of rare tokens: less is few'),
    pressure: z
      .number()
      .min(0)
      .max(1)
      .default(0.6)
      .describe('negative share of the rare tokens’ advantage: more is a push'),
    sparkFall: z.number().min(0).max(1).default(0.5).describe('of the first steps’ sparks: a greater loss is a note'),
  }),

  measure({ trajectories }, params) {
    const credit = tokenCredit(trajectories);
    if (!credit) return null;
    const found = lowProbabilityTokens(tokensOf(trajectories, credit.values), { ...params, thresholds: THRESHOLDS });
    if (found.tokenCount === 0) return null;
    const hasText = textsOf(trajectories.columns.get('token.text')) !== null;
    const [, , rare] = found.byThreshold;
    const noSparks = hasText ? 'no token is one of the words' : 'the text of tokens was not recorded';
    return {
      values: {
        share: rare.share,
        meanAdvantage: rare.meanAdvantage,
        negativePressure: rare.negativePressure,
        'share@0.05': found.byThreshold[1].share,
        'share@0.01': found.byThreshold[0].share,
        sparkPerThousand: hasText ? found.sparkPerThousand : null,
        sparkMeanProb: found.sparkMeanProb,
        sparkLowProbShare: found.sparkLowProbShare,
        sparkNegativePressure: found.sparkNegativePressure,
        regularisedCount: found.regularisedCount,
        tokensPerTrajectory: found.tokenCount / trajectories.ids.length,
        creditIsLogged: credit.isLogged ? 1 : 0,
      },
      reasons: {
        meanAdvantage: 'no token is that rare',
        negativePressure: 'no rare token has an advantage',
        sparkPerThousand: noSparks,
        sparkMeanProb: noSparks,
        sparkLowProbShare: noSparks,
        sparkNegativePressure: noSparks,
      },
      observations: found.tokenCount,
    };
  },

  inContext: (steps) => {
    const [share, sparks, length] = ['share', 'sparkPerThousand', 'tokensPerTrajectory'].map((name) =>
      againstFirst(steps, name),
    );
    return steps.map((_, i) => ({ survival: share[i], sparkSurvival: sparks[i], lengthAgainstFirst: length[i] }));
  },

  sentence: ({ share, negativePressure, survival, creditIsLogged }) =>
    `${percent(share ?? 0)} of the tokens had a probability below 0.1; ${percent(negativePressure ?? 0)} of their advantage is negative${survival == null ? '' : `; now ${figure(survival)} times as many as in the first steps`}${creditNote(creditIsLogged)}`,

  rules: ({ survival, pressure, sparkFall }) => [
    {
      id: 'pushed-out',
      level: 'warn',
      all: [
        { value: 'survival', op: '<', limit: survival },
        { value: 'negativePressure', op: '>', limit: pressure },
      ],
      minimum: 1000,
      says: `less than ${percent(survival)} of the rare tokens are left, and penalties push them out`,
    },
    {
      id: 'fewer-sparks',
      level: 'info',
      all: [
        { value: 'sparkSurvival', op: '<', limit: 1 - sparkFall },
        { value: 'lengthAgainstFirst', op: '<', limit: 1 },
      ],
      minimum: 1000,
      says: `words that open another line of thought fell by more than ${percent(sparkFall)}, and answers got shorter`,
    },
  ],
});

function tokensOf(trajectories: TrajectoryBatch, credit: CreditedTokens['credit']) {
  return {
    credit,
    logprob: numbers(trajectories, 'token.logprob')!,
    mask: numbers(trajectories, 'token.mask'),
    texts: textsOf(trajectories.columns.get('token.text')),
  };
}

/** [steps] a value over its mean in the first steps; null among them, and where that mean is 0. */
function againstFirst(steps: readonly Measured<StepMeasure>[], name: string): (number | null)[] {
  const values = steps.map(({ figures }) => figures.values[name] ?? null);
  const said = values.slice(0, BASELINE).filter((value) => value !== null);
  const baseline = mean(said);
  return values.map((value, i) => (i < BASELINE || value === null || !baseline ? null : value / baseline));
}
