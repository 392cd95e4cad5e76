import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { fakePlatform } from '../../../test/support/fake-platform.js';
import { sync } from './index.js';

const support = join(import.meta.dirname, '../../../test/support');

// A limit on file sizes (20 KiB here) cuts a write short and then fails it, as a full disk does.
const CRAMPED =
  'trap "" XFSZ; ulimit -f 20; exec "$0" --experimental-transform-types --disable-warning=ExperimentalWarning --import "$1/typescript-hooks.mjs" "$1/cramped-trainer.mjs" "$2"';

it('keeps what it accepted whole where the disk takes only a part of a line', { timeout: 30_000 }, async () => {
  const platform = await fakePlatform();
  const spool = mkdtempSync(join(tmpdir(), 'recredit-full-'));
  try {
    const { stdout } = await promisify(execFile)('bash', ['-c', CRAMPED, process.execPath, support, spool], {
      cwd: join(support, '../..'),
    });
    const { accepted, fitted } = JSON.parse(stdout) as { accepted: number; fitted: boolean };
    expect(accepted).toBe(7);
    expect(fitted).toBe(true);
    expect(await sync(spool, { url: platform.url })).toMatchObject({ sent: accepted, unsent: 0, refused: 0 });
    expect(platform.events('r')).toHaveLength(accepted);
  } finally {
    await platform.close();
    rmSync(spool, { recursive: true, force: true });
  }
});
