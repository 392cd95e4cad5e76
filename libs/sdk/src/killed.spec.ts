import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { fakePlatform } from '../../../test/support/fake-platform.js';
import { sync } from './index.js';

const support = join(import.meta.dirname, '../../../test/support');

/** Starts a trainer, kills it while it writes, and says how many of its turns it knew to be recorded. */
async function killedTrainer(url: string, spool: string, id: string, lifeMs: number): Promise<number> {
  const hooks = [
    '--experimental-transform-types',
    '--disable-warning=ExperimentalWarning',
    '--import',
    join(support, 'typescript-hooks.mjs'),
  ];
  const child = spawn(process.execPath, [...hooks, join(support, 'doomed-trainer.mjs'), url, spool, id], {
    cwd: join(support, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child.stdout, 'data');
  await setTimeout(lifeMs);
  child.kill('SIGKILL');
  await once(child, 'close');
  return Number(output.slice(0, output.lastIndexOf('\n')).split('\n').at(-1));
}

it('delivers what a killed process recorded exactly once, whenever it was killed', { timeout: 60_000 }, async () => {
  const platform = await fakePlatform();
  const spool = mkdtempSync(join(tmpdir(), 'recredit-killed-'));
  try {
    platform.faults.push(null, 'lost', null, 'dropped', null, null, 'torn', null, 'lost');
    const recorded: number[] = [];
    for (const [i, lifeMs] of [5, 40, 90, 160].entries()) {
      recorded.push(await killedTrainer(platform.url, spool, `t${i}`, lifeMs));
      if (i === 0) tearLastLine(spool);
    }
    const report = await sync(spool, { url: platform.url });

    expect(report).toMatchObject({ unsent: 0, refused: 0 });
    const turns = (id: string) =>
      platform
        .events('r')
        .flatMap((event) => (event.type === 'turn.recorded' && event.trajectory === id ? [event.turn] : []));
    for (const [i, count] of recorded.entries()) {
      const delivered = turns(`t${i}`);
      expect(delivered).toEqual(delivered.map((_, turn) => turn));
      // One more: recorded, and killed before it could say so.
      expect(delivered.length - count).toBeOneOf([0, 1]);
    }
    expect(readdirSync(spool)).toEqual([]);
  } finally {
    await platform.close();
    rmSync(spool, { recursive: true, force: true });
  }
});

/** As a kill in the middle of a write leaves it. */
function tearLastLine(spool: string): void {
  const dir = join(spool, readdirSync(spool)[0]);
  const newest = readdirSync(dir)
    .filter((name) => name.endsWith('.ndjson'))
    .toSorted()
    .at(-1);
  appendFileSync(join(dir, newest ?? '99999999.ndjson'), '{"type":"turn.recorded","at":"2026-01-01T00');
}
