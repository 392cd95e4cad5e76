import * as fc from 'fast-check';
import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times } from './behaviour.fixture.js';
import { judgeVotes, judgeVotesDiagnostic } from './judge-votes.js';

const voted = (...votes: readonly number[]) => ({
  signals: Object.fromEntries(votes.map((vote, k) => [`judgeLabel@judge#${k}`, vote])),
});

it('measures how far votes agree', () => {
  const turns = [voted(1, 1, 1), voted(1, 1, -1), voted(1, -1), voted(1)];
  const found = judgeVotes(trajectoryBatch([rollout('a', 'g', 1, turns)]));
  const entropyOf = (p: number) => -(p * Math.log2(p) + (1 - p) * Math.log2(1 - p));
  expect(found.turns).toBe(3);
  expect(found.voteEntropy).toBeCloseTo((0 + entropyOf(1 / 3) + 1) / 3, 12);
  expect(found).toMatchObject({ unanimousShare: 1 / 3, narrowShare: 2 / 3 });
  // 1 1 −1: without a 1 it is a tie (½ twice); 1 −1: either vote that is left breaks the tie (½ twice)
  expect(found.flipRate).toBeCloseTo(2 / 8, 12);
});

it('takes each vote away in turn to see whether another leads', () => {
  const flipRate = (...votes: readonly number[]) =>
    judgeVotes(trajectoryBatch([rollout('a', 'g', 1, [voted(...votes)])])).flipRate;
  const leaders = (votes: readonly number[]) => {
    const counts = [...Map.groupBy(votes, Number)].map(([vote, same]) => [vote, same.length] as const);
    return new Set(counts.filter(([, n]) => n === Math.max(...counts.map((c) => c[1]))).map(([vote]) => vote));
  };
  const flips = (before: ReadonlySet<number>, after: ReadonlySet<number>): number =>
    before.isDisjointFrom(after) ? 1 : before.symmetricDifference(after).size > 0 ? 0.5 : 0;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1, max: 1 }), { minLength: 2, maxLength: 7 }), (votes) => {
      const each = votes.map((_, k) => flips(leaders(votes), leaders(votes.toSpliced(k, 1))));
      expect(flipRate(...votes)).toBe(each.reduce((sum, flip) => sum + flip, 0) / votes.length);
    }),
  );
});

it('warns of judges that fail on failures only', () => {
  const run = (ofSuccess: boolean, ofFailure: boolean) => {
    const group = [rollout('a', 'g', 1, [{}], { judgeFailed: ofSuccess }), rollout('b', 'g', 0, [{}], { judgeFailed: ofFailure })]; // prettier-ignore
    const step = times(16, group);
    return diagnoseRecords(judgeVotesDiagnostic, [step, step, step]);
  };
  const uneven = run(false, true);
  expect(uneven.alerts).toMatchObject([
    { rule: 'judge-fails-unevenly', saw: { failedJudgeShare: 0.5, unevenness: 1 } },
  ]);
  expect(uneven.sentence).toBe('50 % of the judgements failed');
  expect(run(true, true).alerts).toEqual([]);
  expect(run(false, false).alerts).toEqual([]);
});

it('has nothing to say where nobody voted', () => {
  expect(diagnoseRecords(judgeVotesDiagnostic, [[rollout('a', 'g', 1)]]).sentence).toBe(
    'nothing to measure yet: needs two votes on a turn, or trajectory.judgeFailed',
  );
});
