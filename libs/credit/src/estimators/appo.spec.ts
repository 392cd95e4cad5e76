import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { appo } from './appo.js';

interface Tokens {
  readonly logprob: (number | null)[];
  readonly rolloutLogprob?: number[];
  readonly updatedLogprob?: number[];
  readonly entropy?: number[];
  readonly whitespace?: number[];
  readonly mask?: number[];
}

const zeros = ({ length }: ArrayLike<unknown>) => Array.from({ length }, () => 0);

/** A rollout from the prompt; what is not given is as the policy had it, with no entropy. */
const init = (id: string, outcome: number, tokens: Tokens) => {
  const { logprob } = tokens;
  const all = { rolloutLogprob: logprob, updatedLogprob: logprob, entropy: zeros(logprob), whitespace: zeros(logprob) };
  return { ...rollout('g', outcome, [{ tokens: { ...all, ...tokens } }]), id, signals: { rolloutKind: 'init' } };
};

/** A rollout that shares the parent's tokens up to the split. */
const branch = (parent: string, splitToken: number, branchScore: number, outcome: number) => ({
  ...rollout('g', outcome, [{ tokens: { logprob: [-1], updatedLogprob: [-1] } }]),
  parent: { trajectory: parent, turn: -1 },
  signals: { rolloutKind: 'branch', splitToken, branchScore },
});

/** The example of the methods. */
const four = () => [
  init('A', 1, {
    logprob: [-0.2, -1, -0.5],
    rolloutLogprob: [-0.2, -1.1, -0.5],
    updatedLogprob: [-0.1, -1.2, -0.4],
    entropy: [0.1, 1.5, 0.6],
  }),
  init('B', 0, {
    logprob: [-0.3, -0.6, -2],
    rolloutLogprob: [-0.2, -0.6, -1.8],
    updatedLogprob: [-0.3, -0.9, -1.7],
    entropy: [0.2, 0.9, 0.4],
  }),
  branch('A', 1, 1.2, 0),
  branch('B', 0, 0.6, 1),
];
const long = (length: number) => ({ logprob: Array.from({ length }, () => -1) });

describe('appo', () => {
  it('gives the numbers of its page', () => {
    const { columns, tokenAdvantage } = estimateOf(appo, four(), { branchesPerPrompt: 2 });
    expectNumbers((columns.futureValue as number[][][]).slice(0, 2), [1.105171, 1.105171, 1, 0.8, 0.818731, 0.818731]);
    const scores = [-0.773082, 0.935836, 0.325508, 1.440985, 0.960657, -0.240164];
    expectNumbers((columns.branchScore as number[][][]).slice(0, 2), scores, 1e-5);
    expect(columns['selectedBranches.trajectory']).toEqual(['B', 'A']);
    expect(columns['selectedBranches.token']).toEqual([1, 1]);
    const r = 0.999998;
    expectNumbers(tokenAdvantage, [0, 0, r, 0, -r, -r, 0, 0]);
    const weighted = [0, 0, 2.105167, 0, -1.998377, -2.199996, 0, 0];
    expectNumbers(columns.weightedTokenAdvantage, weighted, 2e-6);
  });

  it('corrects the shared beginning with the branches that split off there or later', () => {
    const records = [
      init('A', 1, long(4)),
      init('B', 0, long(4)),
      branch('A', 1, 1, 1),
      branch('A', 2, 1, 0),
      branch('B', 0, 1, 0),
    ];
    const { columns, tokenAdvantage } = estimateOf(appo, records);
    const [a, b, high, low] = columns.baseAdvantage as number[];
    expect([high, low].map(Math.sign)).toEqual([1, -1]);
    expectNumbers((tokenAdvantage as number[][][])[0], [a + (high + low) / 2, a + (high + low) / 2, a + low, a], 1e-12);
    expectNumbers((tokenAdvantage as number[][][])[1], [b + low, b, b, b], 1e-12);
  });

  it('scales the reward of a parent that was split at its last token, by the mean over its branches', () => {
    const records = [init('A', 1, long(2)), branch('A', 1, 2, 0), branch('A', 0, 1, 0)];
    // M = 1 + 2 / 2, and 1 for the split before the last token
    expectNumbers((estimateOf(appo, records).columns.trajectoryReward as number[])[0], 1.5, 1e-12);
    const none = [init('A', 1, long(2)), branch('A', 1, 0, 0)];
    expectNumbers((estimateOf(appo, none).columns.trajectoryReward as number[])[0], 1, 0);
  });

  it('compares init rollouts and branches apart, each in a sum of zero', () => {
    const outcomes = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(outcomes, outcomes, (inits, branches) => {
        const records = [
          ...inits.map((outcome, i) => init(`t${i}`, outcome, long(3))),
          ...branches.map((outcome) => branch('t0', 0, 1, outcome)),
        ];
        const base = estimateOf(appo, records).columns.baseAdvantage as number[];
        const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
        expect(sum(base.slice(0, inits.length))).toBeCloseTo(0, 9);
        expect(sum(base.slice(inits.length))).toBeCloseTo(0, 9);
      }),
    );
  });

  it('gives exactly 0 where outcomes agree, to one alone, and to every branch', () => {
    const agree = [init('A', 0.3, long(2)), init('B', 0.1 + 0.2, long(2)), branch('A', 0, 1, 1)];
    expect([...creditOf(appo, agree).values]).toEqual([0, 0, 0, 0, 0]);
    expect([...creditOf(appo, [init('A', 5, long(3))]).values]).toEqual([0, 0, 0]);
  });

  it('at the first pass has an influence of 1, so that the weighted advantage is twice the advantage', () => {
    const { columns, tokenAdvantage } = estimateOf(appo, [init('A', 1, long(3)), init('B', 0, long(3))]);
    expect(flat(columns.influenceWeight)).toEqual([1, 1, 1, 1, 1, 1]);
    expectNumbers(columns.weightedTokenAdvantage, flat(tokenAdvantage).map((a) => 2 * a), 1e-12); // prettier-ignore
  });

  it('lets a ratio beyond the dual clip count for nothing, and drops a rollout with two punished ones', () => {
    const moved = { logprob: [-3, -3, -3], updatedLogprob: [-1, -1, -3] };
    const { columns } = estimateOf(appo, [init('A', 1, moved), init('B', 0, moved)]);
    expect(flat(columns.influenceWeight)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(columns.keptInLoss).toEqual([1, 0]);
  });

  it('does not amplify a punished token that became much likelier', () => {
    const moved = { logprob: [-2], updatedLogprob: [-1] };
    const { columns } = estimateOf(appo, [init('A', 1, moved), init('B', 0, moved)], { safetyThreshold: 2 });
    expect(flat(columns.influenceWeight)).toEqual([1.2, 1]);
  });

  it('takes unsure tokens with a likelier future first, then others, then the same again; never blank ones', () => {
    const tokens = {
      logprob: [-1, -1, -1, -1],
      rolloutLogprob: [-1, -1, -1.1, -1],
      entropy: [0.5, 0.1, 2, 0.2],
      whitespace: [1, 0, 0, 0],
    };
    const chosen = (branchesPerPrompt: number) =>
      estimateOf(appo, [init('A', 1, tokens)], { branchesPerPrompt }).columns['selectedBranches.token'];
    const [first, ...rest] = chosen(3) as number[];
    expect(first).toBe(2);
    expect(new Set(rest)).toEqual(new Set([1, 3]));
    expect(chosen(5)).toEqual([first, ...rest, first, rest[0]]);
    expect(chosen(0)).toEqual([]);
    const blank = { ...tokens, whitespace: [1, 1, 1, 1] };
    expect(estimateOf(appo, [init('A', 1, blank)]).columns['selectedBranches.token']).toEqual([]);
  });

  it('counts places of tokens without what lies outside the mask', () => {
    const [a, b, shared] = four();
    const turn = a.turns[0].tokens as unknown as Record<string, number[]>;
    const widened = Object.fromEntries(
      Object.entries(turn).map(([name, [first, ...rest]]) => [name, [first, 7, ...rest]]),
    );
    const masked = { ...a, turns: [{ tokens: { ...widened, mask: [1, 0, 1, 1] } }] };
    const [x, outside, y, z] = creditOf(appo, [masked, b, shared, four()[3]]).values;
    expect(outside).toBe(0);
    expectNumbers([x, y, z], creditOf(appo, four()).values.subarray(0, 3), 1e-12);
  });

  it('warns of branches whose parent is not there, and asks each kind for its own signals', () => {
    const outcome = runEstimator(appo, trajectoryBatch([init('A', 1, long(1)), branch('gone', 0, 1, 1)]));
    expect(outcome).toMatchObject({ warnings: ['branches whose init rollout is not in the batch: 1'] });

    const bare = { ...init('A', 1, long(2)), turns: [{ tokens: { logprob: [-1, -1], updatedLogprob: [-1, -1] } }] };
    const missing = runEstimator(appo, trajectoryBatch([bare, branch('A', 0, 1, 1)]));
    expect(missing).toEqual({
      kind: 'missing',
      missing: ['rolloutLogprob', 'entropy', 'whitespace'].map((name) => ({ path: `token.${name}`, rows: 2, of: 3 })),
    });
  });
});
