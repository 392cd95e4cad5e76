import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RunQueue } from './run-queue.js';

/** Work that ends when it is told to. */
function queueOf(concurrency: number) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const queue = new RunQueue((runId) => {
    begun.push(runId);
    return new Promise((resolve) => ends.set(runId, resolve));
  }, concurrency);
  const end = async (runId: string) => {
    ends.get(runId)!();
    await tick();
  };
  return { queue, begun, end };
}

describe('RunQueue', () => {
  it('works on so many runs at once and on the others in turn', async () => {
    const { queue, begun, end } = queueOf(2);
    for (const runId of ['a', 'b', 'c', 'd', 'c']) queue.add(runId);
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    await end('c');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
  });

  it('never works on a run twice at once, but again when it was added meanwhile', async () => {
    const { queue, begun, end } = queueOf(2);
    for (const runId of ['a', 'a', 'a', 'b']) queue.add(runId);
    expect(begun).toEqual(['a', 'b']);
    await end('a');
    await end('a');
    expect(begun).toEqual(['a', 'b', 'a']);
  });

  it('waits for what it began when it is closed, and begins nothing else', async () => {
    const { queue, begun, end } = queueOf(1);
    for (const runId of ['a', 'b']) queue.add(runId);
    let closed = false;
    const closing = queue.close().then(() => (closed = true));
    await tick();
    expect(closed).toBe(false);
    await end('a');
    await closing;
    queue.add('c');
    expect(begun).toEqual(['a']);
  });
});
