import { encodeSegment } from '#lib/columnar';
import { trajectoryBatch } from '#lib/dataset';
import type { SegmentStore } from '#lib/storage';
import { describe, expect, it } from 'vitest';
import { OpenSegments, type StepSource } from './load-step.js';

const rows = [0, 0, 1].map((trainingStep, i) => ({
  id: `t${i}`,
  group: 'g',
  trainingStep,
  turns: [{ state: `s${i}`, action: 'go', reward: i }],
}));
const { numeric, text } = encodeSegment(trajectoryBatch(rows), Float64Array.of(1, 2, 3));
const source: StepSource = {
  kind: 'segments',
  trainingStep: 1,
  asOf: 9,
  from: 0,
  files: [{ numericKey: 'numeric', textKey: 'text' }],
  annotations: [],
};

/** Reads a file into the memory that it is lent, when it is told to. */
function storeOf(files: Readonly<Record<string, Uint8Array | Promise<Uint8Array>>>) {
  const lent: Uint8Array[] = [];
  const get: SegmentStore['get'] = async (key, allocate) => {
    const memory = allocate!(2_000_000);
    lent.push(memory);
    const bytes = await files[key];
    memory.set(bytes);
    return memory.subarray(0, bytes.length);
  };
  return { lent, store: { get } as SegmentStore };
}

const buffersOf = (lent: readonly Uint8Array[]) => new Set(lent.map(({ buffer }) => buffer));

describe('open segments', () => {
  it('read each file once, into memory that is used again when they are closed', async () => {
    const { store, lent } = storeOf({ numeric, text });
    const first = new OpenSegments(store);
    const step = await first.trajectoriesOf(source);
    expect([step.ids, [...step.stateKey], step.texts!.states]).toEqual([['t2'], [0], ['s2']]);
    expect((await first.trajectoriesOf({ ...source, trainingStep: 0 })).ids).toEqual(['t0', 't1']);
    const beside = new OpenSegments(store);
    await beside.trajectoriesOf(source);
    expect(buffersOf(lent).size).toBe(4);
    await first.close();
    await new OpenSegments(store).trajectoriesOf(source);
    expect(lent).toHaveLength(6);
    expect(buffersOf(lent).size).toBe(4);
  });

  it('are closed when trajectories are asked for that do not lie in them', async () => {
    const { store, lent } = storeOf({ numeric, text, later: numeric, words: text });
    const open = new OpenSegments(store);
    await open.trajectoriesOf(source);
    const after: StepSource = { ...source, files: [{ numericKey: 'later', textKey: 'words' }] };
    expect((await open.trajectoriesOf(after)).ids).toEqual(['t2']);
    // a step that both have keeps both
    await open.trajectoriesOf({ ...source, files: [...after.files, ...source.files], trainingStep: 7 });
    expect(lent).toHaveLength(6);
    expect(buffersOf(lent).size).toBe(4);
  });

  it('give back no memory that a file is still read into', async () => {
    const numbers = Promise.withResolvers<Uint8Array>();
    const { store, lent } = storeOf({ numeric: numbers.promise, text: Promise.reject(new Error('gone')) });
    const failing = new OpenSegments(store);
    const read = failing.trajectoriesOf(source);
    const closed = failing.close();
    await new Promise(setImmediate);
    const { store: other, lent: taken } = storeOf({ numeric, text });
    await new OpenSegments(other).trajectoriesOf(source);
    expect(buffersOf([...lent, ...taken]).size).toBe(4);
    numbers.resolve(numeric);
    await expect(read).rejects.toThrow('gone');
    await closed;
    await new OpenSegments(other).trajectoriesOf(source);
    expect(buffersOf([...lent, ...taken]).size).toBe(4);
  });
});
