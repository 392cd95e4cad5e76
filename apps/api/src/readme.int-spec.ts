import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { tableFromIPC } from 'apache-arrow';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { aTrainingStep, testApi, type TestApi } from '../../../test/support/api.js';
import { aProject, aRun } from '../../../test/support/rows.js';

const run = promisify(execFile);

let api: TestApi;
let folder: string;
let key: string;
let environment: NodeJS.ProcessEnv;
let analysis: string;

beforeAll(async () => {
  api = await testApi();
  folder = await mkdtemp(join(tmpdir(), 'recredit-readme-'));
  const project = await aProject(api.db.ownerPool);
  key = await api.key(project, 'read', 'analyze');
  const id = await aRun(api.db.ownerPool, { project, name: 'grpo-7b' });
  for (const step of [0, 1, 2]) await api.append(id, aTrainingStep(step));
  await api.project(id);
  environment = { ...process.env, RECREDIT_URL: await api.listen(), RECREDIT_API_KEY: key };
  const start = blocks('graphql', await readme()).find((query) => query.includes('startAnalysis('))!;
  const { data } = await api.ask(key, start, { run: 'grpo-7b' });
  analysis = data.startAnalysis.id;
  await api.work(analysis, [id]);
});

afterAll(async () => {
  await api?.close();
  await rm(folder, { recursive: true, force: true });
});

const readme = () => readFile('docs/api/README.md', 'utf8');
const blocks = (language: string, text: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, code]) => code);

it('every query of docs/api/README.md is answered', async () => {
  const variables = { run: 'grpo-7b', analysis, trajectory: 't0-0-0' };
  const queries = blocks('graphql', await readme());
  expect(queries).toHaveLength(11);
  for (const query of queries.filter((text) => !text.startsWith('subscription'))) {
    const used = Object.fromEntries(Object.entries(variables).filter(([name]) => query.includes(`$${name}`)));
    const { data, errors } = await api.ask(key, query, used);
    expect(errors, query).toBeUndefined();
    for (const value of Object.values(data)) expect(value, query).not.toBeNull();
  }
});

it('its subscriptions say something', async () => {
  const { RECREDIT_URL = '' } = environment;
  const client = createClient({
    url: `${RECREDIT_URL.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${key}` },
  });
  for (const query of blocks('graphql', await readme()).filter((text) => text.startsWith('subscription'))) {
    const { value } = await client.iterate({ query, variables: { run: 'grpo-7b' } }).next();
    expect(value.data).toMatchObject({ runAdvanced: { position: expect.any(Number) } });
  }
  await client.dispose();

  const [script] = blocks('js', await readme());
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script, '-', analysis], {
    cwd: resolve('.'),
    env: environment,
  });
  expect(stdout).toContain("state: 'COMPLETED'");
});

const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

it.skipIf(!hasCurl)('its commands do what it says (skipped where curl is not there)', async () => {
  const commands = blocks('sh', await readme());
  const outputs = [];
  for (const command of commands) {
    const { stdout } = await run('bash', ['-euc', command], {
      cwd: folder,
      env: { ...environment, ANALYSIS: analysis },
    });
    outputs.push(stdout);
  }
  expect(JSON.parse(outputs[0])).toEqual({
    data: { runs: { edges: [{ node: { name: 'grpo-7b', state: 'RUNNING' } }] } },
  });
  for (const file of ['trajectories.arrow', 'credit.arrow']) {
    expect(tableFromIPC(await readFile(join(folder, file))).numRows).toBe(36);
  }
});
