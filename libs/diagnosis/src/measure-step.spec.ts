import { encodeSegment } from '#lib/columnar';
import { trajectoryBatch } from '#lib/dataset';
import { DIAGNOSTICS } from '#lib/diagnostics';
import { seededRandom } from '#lib/numeric';
import type { SegmentStore } from '#lib/storage';
import { expect, it } from 'vitest';
import { measureTask } from './measure-step.js';
import { unpackOutcomes } from './packed-outcomes.js';

const TOKENS = 60;
const random = seededRandom('tokens');
const flag = () => random.integer(2);
const tokens = () => {
  const column = <T>(draw: () => T) => Array.from({ length: TOKENS }, draw);
  return {
    logprob: column(() => Math.log(1 - random.next())),
    rolloutLogprob: column(() => Math.log(1 - random.next())),
    loggedAdvantage: column(() => random.normal()),
    entropy: column(() => random.next()),
    mask: column(flag),
    text: column(() => ['Wait', ' no'][flag()]),
  };
};
const turn = () => ({
  state: `s${random.integer(9)}`,
  action: `a${random.integer(4)}`,
  reward: flag(),
  signals: { isActionValid: flag(), toolError: flag(), successEstimate: random.next(), judgeLabel: flag(), tokenCount: TOKENS }, // prettier-ignore
  tokens: tokens(),
});
const rows = Array.from({ length: 64 }, (_, i) => ({
  id: `t${i}`,
  group: `g${i >> 3}`,
  trainingStep: i >> 5,
  outcomeReward: flag(),
  signals: { rewardScore: random.normal(), policyVersion: -random.integer(3) },
  turns: Array.from({ length: 6 }, turn),
}));
const { numeric, text } = encodeSegment(
  trajectoryBatch(rows),
  Float64Array.from(rows, (_, i) => i),
);
const files = new Map([
  ['numeric', numeric],
  ['text', text],
]);

/** Counts the bytes that are read, and in how many goes. */
function aStore() {
  const reads = { bytes: 0, goes: 0 };
  const getPart: SegmentStore['getPart'] = async (key, from, to) => {
    const part = files.get(key)!.slice(from, to);
    reads.bytes += part.length;
    reads.goes++;
    return part;
  };
  return { reads, store: { getPart, get: (key) => getPart(key, 0) } as SegmentStore };
}

async function measured(ids: readonly string[], { catalogue = DIAGNOSTICS, hasTokens = true } = {}) {
  const { reads, store } = aStore();
  const steps = [0, 1].map((trainingStep) => ({
    trainingStep,
    source: { kind: 'segments', trainingStep, asOf: 99, from: 0, files: [{ numericKey: 'numeric', textKey: 'text' }], annotations: [] } as const, // prettier-ignore
    metrics: { entropy: 0.4, score: 0.5, gradNorm: 1 },
    checkpoint: null,
    diagnostics: ids,
  }));
  const found = await measureTask(store, { steps, settings: {}, hasTokens }, catalogue);
  const outcomes = found.flatMap(({ trainingStep, diagnostics, outcomes: packed }) =>
    unpackOutcomes(packed).outcomes.map((outcome, i) => ({ trainingStep, id: diagnostics[i].id, outcome })),
  );
  return { outcomes, ...reads };
}

const whole = numeric.length + text.length;
const sees = ({ requires, accepts }: (typeof DIAGNOSTICS)[number]) =>
  [...requires, ...accepts].some((path) => path.startsWith('token.'));
const [seeing, others] = [DIAGNOSTICS.filter(sees), DIAGNOSTICS.filter((each) => !sees(each))].map((members) =>
  members.map(({ id }) => id),
);

it('reads the values of tokens where a diagnostic asks for them, and says the same without them otherwise', async () => {
  const all = await measured(DIAGNOSTICS.map(({ id }) => id));
  const fewer = await measured(others);
  expect(all.bytes).toBe(whole);
  expect(fewer.bytes).toBeLessThan(whole / 2);
  expect(fewer.outcomes).toEqual(all.outcomes.filter(({ id }) => others.includes(id)));
  expect(fewer.outcomes.filter(({ outcome }) => outcome.kind === 'failed')).toEqual([]);
  expect(fewer.outcomes.filter(({ outcome }) => outcome.kind === 'figures').length).toBeGreaterThan(others.length);
});

it('reads the files of a run without tokens in one go', async () => {
  const { outcomes, ...reads } = await measured(others, { hasTokens: false });
  expect(reads).toEqual({ bytes: whole, goes: 2 });
  expect(outcomes).toEqual((await measured(others)).outcomes);
});

it('lets a diagnostic fail that reads tokens and does not say so', async () => {
  const [id] = seeing;
  const careless = DIAGNOSTICS.map((each) => (each.id === id ? { ...each, requires: [], accepts: [] } : each));
  const { outcomes } = await measured([id], { catalogue: careless });
  expect(outcomes).toMatchObject([{ outcome: { kind: 'failed', reason: expect.stringContaining('not read') } }, { outcome: { kind: 'failed' } }]); // prettier-ignore
});
