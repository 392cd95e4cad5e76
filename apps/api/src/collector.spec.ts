import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const COLLECTOR = new URL('./collector.ts', import.meta.url).href;

/** Marks of the whole heap, beside 60 MB of objects, while 2 GB of buffers come and go. */
async function marks(before: string): Promise<number> {
  const script = `
    import { constants, PerformanceObserver } from 'node:perf_hooks';
    import { weighBuffersWithHeap } from '${COLLECTOR}';
    ${before}
    const held = Array.from({ length: 1_000_000 }, (_, i) => ({ i, text: String(i) }));
    let marks = 0;
    const count = (list) => {
      for (const { detail } of list.getEntries()) if (detail.kind !== constants.NODE_PERFORMANCE_GC_MINOR) marks++;
    };
    new PerformanceObserver(count).observe({ entryTypes: ['gc'] });
    for (let i = 0; i < 4_000; i++) {
      Buffer.allocUnsafe(512 * 1024);
      if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    console.log(held.length && marks);`;
  const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '-e', script]);
  return Number(stdout);
}

it('lets V8 mark its heap more seldom while buffers come and go', async () => {
  const [byItself, weighed] = [await marks(''), await marks('weighBuffersWithHeap();')];
  expect(byItself).toBeGreaterThan(8);
  expect(weighed).toBeLessThan(byItself / 2);
}, 60_000);

/** MB by which the old generation grows while 300 requests make objects and drop them. */
async function madeOld(before: string): Promise<number> {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { letRequestsDieYoung } from '${COLLECTOR}';
    ${before}
    const old = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
    let grown = 0;
    for (let request = 0; request < 300; request++) {
      const before = old();
      const turns = Array.from({ length: 30_000 }, (_, i) => ({ index: i, state: [i, i + 1], next: { i } }));
      await null;
      const answer = turns.map((turn) => ({ ...turn, node: { turn } }));
      grown += Math.max(answer.length && old() - before, 0);
      await new Promise((resolve) => setImmediate(resolve));
    }
    console.log(grown / 2 ** 20);`;
  const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '-e', script]);
  return Number(stdout);
}

it('lets V8 make the objects of requests in its young generation, again and again', async () => {
  const [byItself, young] = [await madeOld(''), await madeOld('letRequestsDieYoung();')];
  expect(young).toBeLessThan(byItself / 2);
}, 60_000);
