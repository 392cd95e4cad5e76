import * as fc from 'fast-check';

const flag = fc.constantFrom<boolean | number>(true, false, 1, 0);

/** Signals of a turn, a trajectory and a token that the information, uncertainty and token estimators read. */
export const informationSignals = (number: fc.Arbitrary<number>, tokenNumber = number) => ({
  turn: fc.record({
    groundTruthLogprob: number,
    probeAccuracy: number,
    probeConfidence: number,
    successEstimate: number,
    cumulativeTokens: number,
    candidateLogprobs: fc.tuple(number, number),
    candidateUtilities: fc.tuple(number, number),
    uniformDraw: number,
    tokenCount: fc.constantFrom(0, 1, 2, 3, 4, 2.5, -1),
    containsAnswer: flag,
    stepCorrect: flag,
    alignedWithWrongAnswer: fc.constantFrom(true, false, null),
  }),
  trajectory: fc.record({
    initialSuccess: number,
    terminationReward: number,
    rolloutKind: fc.constantFrom('init', 'init', 'branch'),
    splitToken: number,
    branchScore: number,
    tokenBudget: fc.constantFrom(512, 1024),
    tokenCount: number,
    answerCorrect: flag,
    toolCalls: number,
    policySource: fc.constantFrom('onPolicy', 'offPolicy'),
  }),
  token: fc.record({
    entropy: tokenNumber,
    logprob: tokenNumber,
    updatedLogprob: tokenNumber,
    rolloutLogprob: tokenNumber,
    proxyLogprob: tokenNumber,
    temperedLogprob: tokenNumber,
    whitespace: fc.constantFrom(0, 0, 1),
    hiddenState: fc.tuple(number, number),
    topLogprobs: fc.array(number, { maxLength: 3 }),
  }),
});

/** What a ranking of tokens goes by. */
const RANKED = ['entropy', 'logprob', 'updatedLogprob'] as const;

type Ranked = Record<(typeof RANKED)[number], number>;

/** Moves the numbers that tokens are ranked by a little apart, each differently: of equals the first in the batch wins. */
export function movedApart<Token extends Ranked>(tokens: readonly Token[], firstRank: number): Token[] {
  return tokens.map((token, k) => {
    const apart = Object.fromEntries(RANKED.map((name) => [name, token[name] + (firstRank + k + 1) / 4096]));
    return { ...token, ...apart };
  });
}

/** A turn that has all of them. */
export const WHOLE_TURN_INFORMATION = {
  groundTruthLogprob: 0,
  probeAccuracy: 0,
  probeConfidence: 0,
  successEstimate: 0,
  cumulativeTokens: 1,
  candidateLogprobs: [0, 0],
  candidateUtilities: [0, 0],
  uniformDraw: 0,
  tokenCount: 1,
  containsAnswer: false,
  stepCorrect: true,
  alignedWithWrongAnswer: false,
};

/** A trajectory that has all of them. */
export const WHOLE_TRAJECTORY_INFORMATION = {
  initialSuccess: 0,
  terminationReward: 0,
  rolloutKind: 'init',
  splitToken: 0,
  branchScore: 0,
  tokenBudget: 512,
  tokenCount: 1,
  answerCorrect: false,
  toolCalls: 0,
  policySource: 'onPolicy',
};

const WHOLE_TOKEN = {
  entropy: 0,
  logprob: 0,
  updatedLogprob: 0,
  rolloutLogprob: 0,
  proxyLogprob: 0,
  temperedLogprob: 0,
  whitespace: 0,
  hiddenState: [0, 0],
  topLogprobs: [0],
};

/**
 * Tokens that have all of them. Two, ranked apart: of a batch's only two tokens in different trajectories, both are as
 * covariant as each other, and the first in the batch wins.
 */
export const WHOLE_TOKENS = [WHOLE_TOKEN, { ...WHOLE_TOKEN, entropy: 0.7, logprob: -0.7, updatedLogprob: -0.7 }];

/** Tokens as a turn carries them: a column per name. */
export function columnsOfTokens<Token extends object>(tokens: readonly Token[]): Record<string, Token[keyof Token][]> {
  const names = Object.keys(tokens[0] ?? {}) as (keyof Token & string)[];
  return Object.fromEntries(names.map((name) => [name, tokens.map((token) => token[name])]));
}
