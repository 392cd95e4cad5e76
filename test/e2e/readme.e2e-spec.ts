import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recreditJson } from '../support/recredit.js';
import { ServedPlatform } from '../support/served-platform.js';

const ROOT = join(import.meta.dirname, '../..');

let platform: ServedPlatform;

beforeAll(async () => {
  platform = await ServedPlatform.start();
});

afterAll(async () => expect(await platform?.remove()).toEqual([]));

it('shows a trainer that works as it stands there', async () => {
  const [, snippet] = /^```ts\n([\s\S]*?)^```/m.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  // where the name of the SDK means its build
  const file = join(ROOT, 'dist', `readme-${process.pid}.mjs`);
  const environment = { RECREDIT_HOME: platform.home, RECREDIT_URL: platform.url };
  writeFileSync(file, snippet);
  try {
    const said = execFileSync(process.execPath, [file], { env: environment, encoding: 'utf8' });
    expect(said).toMatch(/^my-run: \d+ events are in the log\.$/m);
  } finally {
    rmSync(file);
  }
  const asked = ['analyze', '--run', 'my-run', '--estimators', 'rloo,hgpo', '--wait'];
  expect(await recreditJson(asked, environment)).toMatchObject({ state: 'completed', groups: 1, groupsWithSignal: 1 });
});
