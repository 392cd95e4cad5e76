import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers, rolloutWithoutTurns } from './estimator.fixture.js';
import type { TrajectoryRecords } from './estimate.js';
import type { AnyEstimator } from './estimator.js';
import { ESTIMATORS } from './estimators/index.js';
import { runEstimator } from './run-estimator.js';

/** Params that take an estimator's other ways. */
const VARIANTS: Record<string, object[]> = {
  grpo: [{}, { normalizeByStd: false }, { statsAcross: 'turns' }, { singleton: 'zero' }],
  rloo: [{}, { singleton: 'zero' }],
  'reinforce-plus-plus': [{}, { gamma: 0.9, whiten: false }],
  'lite-ppo': [{}, { stdOf: 'centered' }],
  'discounted-return': [{}, { gamma: 1 }],
  gae: [{}, { granularity: 'turn', lambda: 0.8 }, { gamma: 0.9, whiten: false }],
  gigpo: [{}, { normalizeByStd: true, invalidActionPenalty: 0.1 }, { statsAcross: 'trajectories', singleton: 'zero' }],
  hgpo: [{}, { baseGroup: true, normalizeByStd: false }, { historyWindow: 0, invalidActionPenalty: 0.1 }],
  spa: [{}, { variant: 'released', gamma: 0.9 }],
  pbrs: [{}, { gamma: 0.9, scale: 2, terminalPotential: 'keep' }],
  'uniform-redistribution': [{}, { variant: 'copy', gamma: 0.9 }, { variant: 'ircr' }],
  rudder: [{}, { errorCorrection: 'none', gamma: 0.9 }],
  'return-decomposition': [{}, { target: 'mean', ridge: 0.1 }],
  'reinforce-plus-plus-baseline': [{}, { whiten: false }, { singleton: 'zero' }],
  remax: [{}, { granularity: 'turn' }],
  opo: [{}, { singleton: 'zero' }],
  gpg: [{}, { fNorm: 2, singleton: 'zero' }],
  'grpo-passk': [{}, { normalizeByStd: false }],
  'turn-wise-gae': [{}, { turnGamma: 0.9, lambda: 0.5, whiten: false }],
  'bi-level-gae': [{}, { gamma: 0.9, lambda: 0.5, whiten: false }],
  'loss-aggregation': [{}, { variant: 'seqMeanTokenMean' }, { variant: 'seqMeanTokenSumNorm' }],
  'dapo-dynamic-sampling': [{}, { metric: 'answerScore', keepSingletons: false }],
  'dapo-overlong': [{}, { maxResponseLength: 8, overlongBufferLength: 4, clamp: 'buffer' }],
  salt: [{}, { baseline: 'rloo', historyWindow: 1 }, { singleton: 'zero' }],
  graft: [{}, { gamma: 0.5, lambda: 0.5, normalizeAdvantage: false }, { singleton: 'zero' }],
  rtmc: [{}, { gamma: 1 }],
  'dopamine-pbrs': [{}, { variant: 'conservative', gamma: 1 }],
  rlvmr: [{}, { normalizeByStd: false, stepAdvantageWeight: 1, singleton: 'zero' }],
  'agent-omit': [{}, { variant: 'released', singleton: 'zero' }],
  'hiper-hae': [
    {},
    { normalizeAdvantage: true, keepPenalty: -0.3, keepConsistencyPenalty: -0.3, bootstrapTruncated: true, gamma: 0.9 },
  ],
  graphgpo: [{}, { normalizeByStd: false, singleton: 'raw' }],
  himac: [{}, { singleton: 'raw' }],
  'hi-agent': [{}, { part: 'low' }, { judged: true, singleton: 'raw' }],
  repro: [{}, { singleton: 'zero', initialProgress: 0.5 }],
  'lts-usage': [{}, { sparsityWeight: 0.1, singleton: 'zero' }],
  'complementary-rl': [{}, { normalization: 'asymClip', extractorNormalization: 'meanStd' }],
  barfi: [{}, { auxiliarySignals: ['potential', 'contribution'], gammaInner: 0.9 }],
  'step-grpo': [{}, { routeWeight: 1, shortAnswerMaxWords: 2, singleton: 'zero' }],
  igpo: [{}, { infoGainType: 'probDiff', pooling: 'joint', gamma: 0.9, outcomeWeight: 0.5 }],
  empg: [{}, { statsAcross: 'turns', entropyDecay: 2, singleton: 'zero' }],
  spae: [{}, { statsScope: 'group', ddof: 1 }],
  mrt: [{}, { granularity: 'trajectory', cutoffs: [1, 3] }],
  'slate-step': [{}, { selectionTemperature: 0, bonusWeight: 1 }],
  'tree-grpo': [{}, { variant: 'nested', singleton: 'zero' }, { variant: 'intraOnly' }],
  treerl: [{}, { variant: 'paper' }, { valueMode: 'allAncestors', weightStyle: 'uniform', overallNorm: 'token' }],
  'cm2-checklist': [
    {},
    { normalizeByStd: true, singleton: 'zero' },
    { granularity: 'userTurn', normalizeByStd: true },
    { granularity: 'turn', minGroup: 1, divideByWeight: true },
  ],
  'trust-grpo': [{}, { variant: 'paper', normalizeByStd: false, singleton: 'zero' }],
  'scope-ttrl': [{}, { searchSubgroupSize: true, misalignedWhenNoAnswer: true, confidenceSign: 'logprob' }],
  'longtrace-rubric': [
    {},
    { variant: 'onlyNegative', normalizeByGroupMax: false },
    { variant: 'all', statsScope: 'batch' },
    { variant: 'longrlvr', singleton: 'raw' },
  ],
  'deep-rubric': [{}, { scoreScale: 1, normalizeByStd: false, singleton: 'zero' }],
  'herl-bonus': [{}, { successThreshold: 5, bonusWeight: 2, singleton: 'zero' }],
  'role-agent-wia': [{}, { maxChars: 3, normalizeByStd: false, gamma: 1, singleton: 'zero' }],
  ghpo: [{}, { normalizeByStd: false, singleton: 'raw' }],
  'hicon-hcpo': [{}, { blockSize: 2, bonusThreshold: 0, singleton: 'zero' }],
  'prm-aggregate': [{}, { aggregate: 'softmin' }, { aggregate: 'product', singleton: 'zero' }],
  'pure-min-form': [
    {},
    { baselineGranularity: 'turn', creditForm: 'mean', singleton: 'raw' },
    { useProcessReward: false, outcomeWeight: 0.5 },
    { useOutcomeReward: false, maskSeparatorToken: false },
  ],
  'spo-tree': [{}, { baseline: 'grpo' }, { usePav: true, onlyNonZero: false }],
  'spo-chain': [{}, { cutpointInterval: 1, probThreshold: 0.5 }],
  'mcts-value': [{}, { variant: 'discounted' }, { useValueEstimates: true }],
  vineppo: [{}, { source: 'branches' }],
  'prorag-dual': [{}, { processWeight: 0 }],
  stare: [{}, { variant: 'C2', targetEntropy: 9, topRatio: 0.5, adaptive: true }],
  delta: [{}, { refinements: 0, minWeight: 0.5, singleton: 'zero' }],
  'lp-reg': [{}, { negativeFraction: 0.7, positiveFraction: 0.5 }],
  dcpo: [{}, { currentEntropy: 0.45, normalizeByStd: false }],
  'entropy-fork-mask': [{}, { variant: 'quantile', topRatio: 0.5, singleton: 'zero' }],
  'kl-cov': [{}, { topPercent: 50, normalizeByStd: false }],
  'clip-cov': [{}, { clipLow: 0.2, clipHigh: 0.2, maskFraction: 0.1, covLow: 0, seed: 7 }],
  'unified-policy-gradient': [
    {},
    { variant: 'sft' },
    { variant: 'reinforce' },
    { variant: 'gspo', singleton: 'zero' },
    { variant: 'luffyOffline' },
  ],
  b4: [{}, { reward: 'posterior', zeroPasses: 'drop', singleton: 'zero' }],
  'dpo-implicit': [{}, { beta: 1 }],
  istar: [
    {},
    { baseline: 'grpo', normalizeByStd: true, stepBaseline: 'allTurns' },
    { baseline: 'reinforcePlusPlusBaseline' },
  ],
  'prime-rloo': [{}, { variant: 'verlRecipe' }, { granularity: 'trajectory', processGamma: 0.9 }],
  'grpo-process': [{}, { normalizeByStd: false, singleton: 'zero' }],
  papo: [{}, { aggregate: 'min', singleton: 'raw' }],
  capo: [{}, { vote: 'average', ddof: 0 }, { vote: 'majority', singleton: 'zero' }],
  'p-grpo': [{}, { outcome: 'outcomeReward', gate: 'product', singleton: 'zero' }],
  'step-filter': [{}, { keepAbove: 0.2, alternativeCap: 0.1 }],
  'process-label': [{}, { label: 'judgeLabel', granularity: 'turn', singleton: 'zero' }],
  'step-mask': [{}, { variant: 'positiveOnly' }],
  'craft-gui': [{}, { task: 'judged', singleton: 'zero' }],
  'har-gui': [{}, { memoryWeight: 2, normalizeByStd: false, singleton: 'zero' }],
  'exprl-rubric': [{}, { variant: 'process', scoreScale: 0.5, singleton: 'zero' }],
  'spark-process': [
    {},
    { variant: 'stepAugmented', singleton: 'zero' },
    { variant: 'selective' },
    { variant: 'global', normalizeByStd: false },
  ],
  'mem-pi': [{}],
  'recycling-failures': [{}, { prefixCredit: 'keep', includeRecycled: false, ratioCap: 2, singleton: 'zero' }],
  'prove-program': [{}, { granularity: 'turn', budgetFactor: 0.5, singleton: 'zero' }],
  arpo: [{}, { entropyTokens: 1, vocabularySize: 50 }],
  hdpo: [{}, { normalizeByStd: false, singleton: 'zero', toolWeight: 1 }],
  hpt: [{}, { switchGateOff: 2, normalizeByStd: true, singleton: 'zero' }],
  hbpo: [{}, { variant: 'released' }, { ddof: 1, singleton: 'zero' }],
  decs: [{}, { granularity: 'token', skipLastChunk: true }, { skipLastTokens: 1, maxResponseLength: 4 }],
  rredcot: [{}],
  'tp-grpo': [{}, { outcomeWeight: 0, correctReward: 2, singleton: 'zero' }],
  'arena-rank': [{}, { fallback: 'judgeScore' }, { topology: 'swiss', fallback: 'judgeScore' }],
  'margin-step-dpo': [{}, { variant: 'ratio', logprobLevel: 'token' }, { kind: 'astSimilarity' }],
  'tree-ps': [{}, { leafScale: 'sqrt', localWeight: 0.5 }],
  'step-apo': [{}, { source: 'leaves', logprobLevel: 'turn' }],
  'step-q': [{}, { source: 'signal', pairRule: 'bestVsRest' }],
  'weighted-dpo': [{}, { granularity: 'turn' }, { weight: 'one' }],
  appo: [{}, { normalizeByStd: false, clipHighOnly: true, gamma: 0.9, dualClip: 1.2 }],
};

/** The order of the batch counts in these: blocks and subgroups are runs of it. */
const ORDER_COUNTS = new Set(['arena-rank', 'hicon-hcpo', 'scope-ttrl']);

const runs = ESTIMATORS.flatMap((estimator) =>
  VARIANTS[estimator.id].map((params) => ({ estimator, params, name: `${estimator.id} ${JSON.stringify(params)}` })),
);

/** The advantages of each trajectory, by its id. */
function byId(estimator: AnyEstimator, records: TrajectoryRecords, params: object): Map<string, unknown> {
  const estimate = estimateOf(estimator, records, params);
  const advantages = estimate[`${estimate.level}Advantage`] as unknown[];
  return new Map(records.map(({ id }, i) => [id, advantages[i]]));
}

const shuffled = batches.chain((records) =>
  fc.tuple(fc.constant(records), fc.shuffledSubarray(records, { minLength: records.length })),
);

describe.each(runs)('$name', ({ estimator, params }) => {
  it.skipIf(ORDER_COUNTS.has(estimator.id))('gives the same to a trajectory wherever it stands in the batch', () => {
    fc.assert(
      fc.property(shuffled, ([records, others]) => {
        const before = byId(estimator, records, params);
        for (const [id, advantages] of byId(estimator, others, params)) expectNumbers(advantages, before.get(id), 1e-9);
      }),
      { numRuns: 40 },
    );
  });

  it('does not care what the groups are called', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const renamed = records.map((record) => ({ ...record, group: `the other ${record.group}` }));
        expect(creditOf(estimator, renamed, params).values).toEqual(creditOf(estimator, records, params).values);
      }),
      { numRuns: 20 },
    );
  });

  it('does not let training steps look at each other', () => {
    fc.assert(
      fc.property(batches, batches, (first, second) => {
        const later = second.map((record) => ({ ...record, id: `later ${record.id}`, trainingStep: 1 }));
        const alone = byId(estimator, first, params);
        const mixed = byId(estimator, [later[0], ...first, ...later.slice(1)], params);
        for (const [id, advantages] of alone) expect(mixed.get(id)).toEqual(advantages);
      }),
      { numRuns: 20 },
    );
  });

  it('gives finite numbers or says why not, one per row, twice the same', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const { values, silent } = creditOf(estimator, records, params);
        expect(values.filter((value) => !Number.isFinite(value))).toHaveLength(silent?.rows ?? 0);
        expect(creditOf(estimator, records, params).values).toEqual(values);
      }),
      { numRuns: 40 },
    );
  });

  it('writes to no column of the batch', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const trajectories = trajectoryBatch(records);
        runEstimator(estimator, trajectories, params);
        expect(trajectories).toEqual(trajectoryBatch(records));
      }),
      { numRuns: 10 },
    );
  });

  it('answers for no trajectory, and for one without a turn', () => {
    expect([...creditOf(estimator, [], params).values]).toEqual([]);
    const idle = creditOf(estimator, [rolloutWithoutTurns('a')], params);
    expect(idle.values).toHaveLength(idle.level === 'trajectory' ? 1 : 0);
  });

  it('says which signal is missing on how many rows, and guesses nothing', () => {
    const bare = ['a', 'b'].map((id) => ({ id, group: 'g', trainingStep: 0, turns: [{}] }));
    const outcome = runEstimator(estimator, trajectoryBatch(bare), params);
    expect(outcome.kind).toBe('missing');
    if (outcome.kind !== 'missing') return;
    for (const { path, rows, of } of outcome.missing) {
      expect([path, rows, of]).toEqual([path, of, { trajectory: 2, turn: 2, token: 0 }[path.split('.')[0]]]);
    }
  });

  it('refuses a param it does not have', () => {
    expect(() => creditOf(estimator, [], { ...params, gama: 1 })).toThrow(/gama/);
  });
});
