import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { fakePlatform } from '../../../test/support/fake-platform.js';

const root = join(import.meta.dirname, '../../..');

it('the example of the guide runs as it stands there', { timeout: 30_000 }, async () => {
  const guide = readFileSync(join(root, 'docs/guides/log-from-a-trainer.md'), 'utf8');
  const [, example] = /```ts\n([^]*?)```/.exec(guide)!;
  const platform = await fakePlatform();
  const folder = mkdtempSync(join(tmpdir(), 'recredit-guide-'));
  try {
    writeFileSync(join(folder, 'trainer.mts'), example);
    const hooks = ['--experimental-transform-types', '--disable-warning=ExperimentalWarning', '--import'];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...hooks, join(root, 'test/support/typescript-hooks.mjs'), join(folder, 'trainer.mts')],
      {
        cwd: root,
        env: { RECREDIT_URL: platform.url, RECREDIT_API_KEY: 'rk_a_b', RECREDIT_SPOOL: join(folder, 'spool') },
      },
    );
    // 24 rollouts of five turns and an end, three training steps, the end of the run
    expect(stdout).toBe('grpo-7b: 148 events are in the log.\n');
    expect(platform.events('grpo-7b')).toHaveLength(148);
  } finally {
    await platform.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
