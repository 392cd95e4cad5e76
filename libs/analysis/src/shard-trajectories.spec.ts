import { encodeSegment } from '#lib/columnar';
import { ESTIMATORS, identifyStates, needsOf, parseParams, runEstimator, type AnyEstimator } from '#lib/credit';
import { numbers, trajectoryBatch } from '#lib/dataset';
import { seededRandom } from '#lib/numeric';
import type { SegmentStore } from '#lib/storage';
import { describe, expect, it } from 'vitest';
import { computeShard, type Estimation } from './compute-shard.js';
import { creditFileKey, type ShardTask } from './shard-task.js';

const TOKENS = 200;
const random = seededRandom('tokens of shards');
const flag = () => random.integer(2);
const column = (draw: () => number) => Array.from({ length: TOKENS }, draw);
const turn = (logprobs: boolean) => ({
  state: `s${random.integer(4)}`,
  action: `a${random.integer(3)}`,
  reward: flag(),
  signals: { valueEstimate: random.next(), exactAdvantage: random.normal() },
  tokens: {
    entropy: column(() => random.next()),
    mask: column(flag),
    ...(logprobs && { logprob: column(() => -random.next()), sumProbSquared: column(() => random.next()) }),
  },
});
/** Two segments of one training step. */
const segmentsOf = ({ logprobs }: { logprobs: boolean }) =>
  [0, 1].map((part) => {
    const rows = Array.from({ length: 16 }, (_, i) => ({
      id: `t${part}-${i}`,
      group: `g${i >> 2}`,
      trainingStep: 3,
      outcomeReward: flag(),
      success: flag() === 1,
      turns: Array.from({ length: 3 }, () => turn(logprobs)),
    }));
    const ends = Float64Array.from(rows, (_, i) => part * 100 + i);
    return encodeSegment(trajectoryBatch(rows), ends);
  });

const estimationWith = (catalogue: readonly AnyEstimator[]): Estimation => ({
  catalogue,
  identify: async (trajectories, identity) => ({ trajectories: identifyStates(trajectories, identity), warnings: [] }),
  run: runEstimator,
});

interface Asked {
  readonly leavesTokens: boolean;
  readonly sampleRate?: number;
  readonly catalogue?: readonly AnyEstimator[];
  /** what the store has already */
  readonly files?: ReadonlyMap<string, Uint8Array>;
}

/** What a shard gives, which files it wrote, and how many bytes it read. */
async function computed(
  segments: ReturnType<typeof segmentsOf>,
  ids: readonly string[],
  { leavesTokens, sampleRate = 1e-9, catalogue = ESTIMATORS, files = new Map() }: Asked,
) {
  const stored = new Map(files);
  segments.forEach(({ numeric, text }, i) => stored.set(`${i}n`, numeric).set(`${i}t`, text));
  const written = new Map<string, string>();
  let bytes = 0;
  const getPart: SegmentStore['getPart'] = async (key, from, to) => {
    const part = stored.get(key)!.slice(from, to);
    bytes += part.length;
    return part;
  };
  const put: SegmentStore['put'] = async (key, file) => void written.set(key, Buffer.from(file).toString('base64'));
  const store = { getPart, get: (key) => getPart(key, 0), put } as SegmentStore;
  const task: ShardTask = {
    runId: 'r',
    trainingStep: 3,
    asOf: 1_000,
    from: 0,
    segments: segments.map((_, i) => ({
      numericKey: `${i}n`,
      textKey: `${i}t`,
      sha256: '',
      firstRow: 0,
      rowCount: 16,
    })),
    annotations: [],
    sampleRate,
    leavesTokens,
    estimators: ids.map((id) => {
      const { version, hash } = catalogue.find((each) => each.id === id)!;
      const params = parseParams(catalogue.find((each) => each.id === id)!);
      const known = files.has(creditFileKey(id)) ? 'credit' : null;
      return { label: id, id, version, ...(hash && { hash }), params, key: id, known };
    }),
  };
  const { results, summary } = await computeShard(store, task, estimationWith(catalogue));
  const said = results.map(({ seconds, ...rest }) => ({ ...rest, isTimed: seconds >= 0 }));
  return { said, written, summary: Buffer.from(summary).toString('base64'), bytes };
}

const bytesOf = (segments: ReturnType<typeof segmentsOf>) =>
  segments.reduce((sum, { numeric }) => sum + numeric.length, 0);
const answerOf = ({ said, written, summary }: Awaited<ReturnType<typeof computed>>) => ({ said, written, summary });

describe('a shard that may leave tokens in their files', () => {
  const [silent, likely] = [segmentsOf({ logprobs: false }), segmentsOf({ logprobs: true })];
  const ids = ['gigpo', 'grpo', 'rloo', 'discounted-return'];

  it('says the same of all estimators that ask for none, and reads a fraction', async () => {
    const asking = ({ levels, ...estimator }: AnyEstimator) => {
      const { requires, accepts } = needsOf(estimator as AnyEstimator, parseParams(estimator as AnyEstimator));
      return levels.includes('token') || [...requires, ...accepts].some((path) => path.startsWith('token.'));
    };
    const others = ESTIMATORS.filter((each) => !asking(each)).map(({ id }) => id);
    const [left, read] = await Promise.all([true, false].map((leavesTokens) => computed(silent, others, { leavesTokens }))); // prettier-ignore
    expect(answerOf(left)).toEqual(answerOf(read));
    expect(left.written.size).toBeGreaterThan(ids.length);
    expect(left.said.filter(({ kind }) => kind === 'failed')).toEqual(
      read.said.filter(({ kind }) => kind === 'failed'),
    );
    expect(left.bytes).toBeLessThan(read.bytes / 2);
  });

  it('reads those that its comparison looks at, and no others', async () => {
    const whole = bytesOf(likely);
    for (const sampleRate of [1, 0.2, 1e-9]) {
      const left = await computed(likely, ids, { leavesTokens: true, sampleRate });
      const read = await computed(likely, ids, { leavesTokens: false, sampleRate });
      expect(answerOf(left), `${sampleRate}`).toEqual(answerOf(read));
      expect(read.bytes).toBe(whole);
      if (sampleRate === 1e-9) expect(left.bytes).toBeLessThan(whole / 2);
      else expect(left.bytes).toBeGreaterThan(whole);
    }
    const left = await computed(silent, ids, { leavesTokens: true, sampleRate: 1 });
    expect(answerOf(left)).toEqual(answerOf(await computed(silent, ids, { leavesTokens: false, sampleRate: 1 })));
    expect(left.bytes).toBeLessThan(bytesOf(silent) / 2);
  });

  it('reads them for an estimator that asks for some, also where its credit is known', async () => {
    const first = await computed(silent, ['opo', 'reinforce-plus-plus-baseline'], { leavesTokens: true });
    expect(first.bytes).toBe(bytesOf(silent));
    const files = new Map([...first.written].map(([key, file]) => [key, new Uint8Array(Buffer.from(file, 'base64'))]));
    const [left, read] = await Promise.all([true, false].map((leavesTokens) => computed(silent, ['opo', 'grpo'], { leavesTokens, files }))); // prettier-ignore
    expect(answerOf(left)).toEqual(answerOf(read));
    expect(left.said).toHaveLength(1);
  });

  it('says why one fails that asks for tokens and did not say so, and nothing else does', async () => {
    const careless = ESTIMATORS.map((each) =>
      each.id === 'rloo' ? { ...each, estimate: (...[trajectories]: unknown[]) => numbers(trajectories as never, 'token.entropy') as never } : each,
    ); // prettier-ignore
    const { said } = await computed(silent, ['rloo', 'grpo'], { leavesTokens: true, catalogue: careless });
    expect(said).toMatchObject([{ kind: 'failed', reason: expect.stringContaining('not read') }, { kind: 'credit' }]);
  });

  it("gives a user's own estimator all that there is", async () => {
    const grpo = ESTIMATORS.find(({ id }) => id === 'grpo')!;
    const seen: number[] = [];
    const own: AnyEstimator = {
      ...grpo,
      hash: '0123456789ab',
      estimate: (trajectories, columns, params) => {
        seen.push(numbers(trajectories, 'token.entropy')!.length);
        return grpo.estimate(trajectories, columns, params);
      },
    };
    const { said } = await computed(silent, ['grpo'], { leavesTokens: true, catalogue: [own] });
    expect(said).toMatchObject([{ kind: 'credit' }]);
    expect(seen[0]).toBe(2 * 16 * 3 * TOKENS);
  });
});
