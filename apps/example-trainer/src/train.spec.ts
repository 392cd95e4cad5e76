import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ESTIMATORS, findEstimator, runEstimator, turnCredit } from '#lib/credit';
import { numbers, trajectoryBatch } from '#lib/dataset';
import { trajectoryIssue, type TrajectoryRecord, type Turn } from '#lib/protocol';
import { offline, type CheckpointFields } from '#lib/sdk';
import { describe, expect, it } from 'vitest';
import type { RunPort } from './port.js';
import { train, type TrainingOptions } from './train.js';

/** A run that keeps what it is told. */
function recordingRun() {
  const records: TrajectoryRecord[] = [];
  const metrics: Record<string, number | null>[] = [];
  const checkpoints: CheckpointFields[] = [];
  const run: RunPort = {
    trajectory: ({ id = 'unnamed', group, trainingStep }) => {
      const turns: Turn[] = [];
      return {
        id,
        turn: (turn) => turns.push(turn),
        end: (end) => records.push({ id, group, trainingStep, ...end, turns }),
      };
    },
    checkpoint: (checkpoint) => checkpoints.push(checkpoint),
    trainingStep: (trainingStep, measured) => metrics.push({ trainingStep, ...measured }),
  };
  return { run, records, metrics, checkpoints };
}

const SMALL: Partial<TrainingOptions> = { steps: 3, groupsPerStep: 8, taskCount: 8 };
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

describe('training', () => {
  it.each([
    ['gigpo', 1],
    ['reinforce-plus-plus', 2],
  ])('by %s makes the agent succeed more often (seed %i)', { timeout: 60_000 }, async (estimator, seed) => {
    const { run, metrics } = recordingRun();
    const curve = await train({ run, estimator, seed });
    const rates = curve.map((point) => point.metrics.successRate);
    expect(mean(rates.slice(0, 5))).toBeLessThan(0.3);
    expect(mean(rates.slice(-5))).toBeGreaterThan(0.7);
    expect(metrics.map(({ successRate }) => successRate)).toEqual(rates);
  });

  it('learns nothing from a learning rate of 0: the exact chance of success stays', async () => {
    const { run } = recordingRun();
    const curve = await train({ run, ...SMALL, learningRate: 0 });
    const chances = curve.map((point) => point.metrics.exactSuccessRate);
    expect(chances).toEqual(chances.map(() => expect.closeTo(chances[0], 12)));
  });
});

describe('what is logged', async () => {
  const { run, records, metrics, checkpoints } = recordingRun();
  const curve = await train({ run, ...SMALL });

  it('is what the protocol takes', () => {
    expect(records).toHaveLength(3 * 8 * 8);
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
    for (const record of records) expect(trajectoryIssue(record)).toBeNull();
    expect(metrics.map(({ trainingStep }) => trainingStep)).toEqual([0, 1, 2]);
    expect(curve.at(-1)).toMatchObject({ steps: 3, trajectories: records.length });
    expect(curve.at(-1)?.turns).toBe(records.flatMap(({ turns }) => turns).length);
  });

  it('are the policy’s parameters too, as they are after each step', () => {
    expect(checkpoints.map(({ trainingStep }) => trainingStep)).toEqual([0, 1, 2]);
    const [first, second, third] = checkpoints.map(({ sketch }) => sketch as Float32Array);
    const moved = (a: Float32Array, b: Float32Array) => Math.hypot(...a.map((value, i) => value - b[i]));
    expect(moved(first, second)).toBeGreaterThan(0.1);
    // each update moves a weight by about the learning rate, so two of them lead further than one
    expect(moved(first, third)).toBeGreaterThan(moved(first, second));
    expect(checkpoints[0].tensors).toEqual([{ name: 'policy', size: first.length }]);
  });

  it('names all signals on every turn, as numbers', () => {
    const names = ['exactAdvantage', 'valueEstimate', 'logprob', 'entropy', 'loggedAdvantage'];
    for (const { signals = {} } of records.flatMap(({ turns }) => turns)) {
      expect(names.filter((name) => !Number.isFinite(signals[name]))).toEqual([]);
    }
  });

  it('draws a task again under the same group name', () => {
    const steps = Map.groupBy(records, ({ group }) => group)
      .values()
      .map((of) => new Set(of.map((r) => r.trainingStep)).size);
    expect(Math.max(...steps)).toBe(3);
  });

  it('has groups that agree and groups that do not', () => {
    const groups = Map.groupBy(records, ({ group, trainingStep }) => `${trainingStep} ${group}`);
    const mixed = [...groups.values()].filter((of) => new Set(of.map(({ success }) => success)).size > 1);
    expect(mixed.length).toBeGreaterThan(0);
    expect(mixed.length).toBeLessThan(groups.size);
  });

  it('rewards the last turn of a success, at the last word that was chosen, and nothing else', () => {
    const rewarded = (values: readonly unknown[]) => values.filter((value) => value !== 0).length;
    for (const { outcomeReward, success, turns } of records) {
      expect(outcomeReward).toBe(success ? 1 : 0);
      expect(turns.map(({ reward }) => reward)).toEqual(
        turns.map((_, t) => (success && t === turns.length - 1 ? 1 : 0)),
      );
      for (const { action, reward, tokens = {} } of turns) {
        const [mask, tokenReward, logprob] = ['mask', 'reward', 'logprob'].map((name) => tokens[name] as number[]);
        expect(mask).toHaveLength((action as string).split(' ').length);
        expect(rewarded(tokenReward)).toBe(reward);
        expect(mask.every((chosen, word) => chosen === 1 || (tokenReward[word] === 0 && logprob[word] === 0))).toBe(
          true,
        );
      }
    }
  });

  it('gives estimators what they need, but for those that ask for a judge, a plan or another policy', () => {
    const trajectories = trajectoryBatch(records);
    const lacking = ESTIMATORS.filter((estimator) => runEstimator(estimator, trajectories).kind === 'missing');
    const ids = new Set(lacking.map(({ id }) => id));
    const needed = [
      'grpo',
      'rloo',
      'reinforce-plus-plus',
      'lite-ppo',
      'discounted-return',
      'gae',
      'gigpo',
      'hgpo',
      'salt',
    ];
    expect(needed.filter((id) => ids.has(id))).toEqual([]);
    expect(ids).toContain('remax'); // asks for a greedy rollout
  });

  it('contains the advantages that the estimator gives for the same training step', () => {
    const trajectories = trajectoryBatch(records.filter(({ trainingStep }) => trainingStep === 1));
    const outcome = runEstimator(findEstimator('gigpo'), trajectories);
    const again = outcome.kind === 'credit' ? turnCredit(trajectories, outcome.credit) : null;
    expect(numbers(trajectories, 'turn.loggedAdvantage')).toEqual(again);
  });

  it('is the same again for the same seed, and other for another', async () => {
    const [again, other] = [recordingRun(), recordingRun()];
    await train({ run: again.run, ...SMALL });
    await train({ run: other.run, ...SMALL, seed: 2, steps: 1 });
    expect(again.records).toEqual(records);
    expect(other.records[0]).not.toEqual(records[0]);
  });
});

describe('the trainer', () => {
  it('writes through the SDK, which takes all of it', async () => {
    const spool = mkdtempSync(join(tmpdir(), 'recredit-trainer-'));
    const run = await offline(spool).startRun({ project: 'demo', name: 'text-world' });
    const [progress] = await train({ run, ...SMALL, steps: 1 });
    const report = await run.end();
    rmSync(spool, { recursive: true });
    expect(report).toMatchObject({ dropped: 0, backPressure: 0, reasons: [] });
    // every turn, every end of a trajectory, the checkpoint, the training step, the end of the run
    expect(report.accepted).toBe(progress.turns + progress.trajectories + 3);
  });

  it('logs an advantage per token where the estimator tells tokens apart', async () => {
    const { run, records } = recordingRun();
    await train({ run, ...SMALL, steps: 1, estimator: 'reinforce-plus-plus' });
    for (const { tokens = {} } of records.flatMap(({ turns }) => turns)) {
      expect(tokens['loggedAdvantage']).toHaveLength((tokens['mask'] as number[]).length);
    }
  });

  it('lets other work of the process go on', async () => {
    let served = 0;
    const serve = setInterval(() => served++, 0);
    await train({ run: recordingRun().run, ...SMALL, steps: 1 });
    clearInterval(serve);
    expect(served).toBeGreaterThan(10);
  });

  it('refuses an estimator or params that there are not, before it begins', async () => {
    const { run, records } = recordingRun();
    await expect(train({ run, estimator: 'grpo2' })).rejects.toMatchObject({ code: 'estimator.unknown' });
    await expect(train({ run, params: { gama: 1 } })).rejects.toMatchObject({ code: 'params.invalid' });
    await expect(train({ run, groupsPerStep: 9, taskCount: 8 })).rejects.toMatchObject({ code: 'params.invalid' });
    expect(records).toHaveLength(0);
  });
});

describe('a trainer that is told to be faulty', () => {
  it('logs, and learns from, what the fault makes of its advantages', async () => {
    const { run, records } = recordingRun();
    await train({ run, ...SMALL, steps: 1, estimator: 'grpo', plant: 'sign-flipped' });
    const trajectories = trajectoryBatch(records);
    const outcome = runEstimator(findEstimator('grpo'), trajectories);
    const right = outcome.kind === 'credit' ? turnCredit(trajectories, outcome.credit) : new Float64Array(0);
    expect(right.some((value) => value !== 0)).toBe(true);
    expect(numbers(trajectories, 'turn.loggedAdvantage')).toEqual(right.map((value) => -value));
  });

  it('loses rollouts and rejects some, but leaves no group empty', async () => {
    const { run, records } = recordingRun();
    const curve = await train({ run, ...SMALL, estimator: 'grpo', lost: 0.9, rejected: 0.5 });
    expect(records.length).toBeLessThan(3 * 8 * 4);
    expect(curve.at(-1)!.trajectories).toBe(records.length);
    const groups = Map.groupBy(records, ({ group, trainingStep }) => `${trainingStep} ${group}`);
    expect(groups.size).toBe(3 * 8);
    expect(new Set(records.map(({ signals }) => signals?.['excluded']))).toEqual(new Set([true, false]));
  });

  it('refuses a fault that there is not, and one in credit that differs by turn', async () => {
    const { run, records } = recordingRun();
    await expect(train({ run, ...SMALL, estimator: 'grpo', plant: 'typo' })).rejects.toThrow('no fault typo: there are grpo-zero-singleton'); // prettier-ignore
    await expect(train({ run, ...SMALL, plant: 'scaled' })).rejects.toThrow('in an outcome credit, such as grpo');
    expect(records).toEqual([]);
  });
});
