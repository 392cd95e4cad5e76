import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject } from '../../../../test/support/rows.js';

const run = promisify(execFile);
const works = (command: string, ...args: string[]) =>
  run(command, args).then(
    () => true,
    () => false,
  );

let api: TestApi;
let key: string;
let environment: NodeJS.ProcessEnv;
let guide: string;

beforeAll(async () => {
  api = await testApi();
  const project = await aProject(api.db.ownerPool);
  key = await api.key(project, 'ingest', 'read');
  guide = await readFile('docs/guides/opentelemetry.md', 'utf8');
  const base = { ...process.env, RECREDIT_URL: await api.listen(), RECREDIT_API_KEY: key };
  const { stdout } = await run('bash', ['-euc', `${blocks('sh')[0]}\nenv | grep ^OTEL_`], { env: base });
  const told = stdout.trim().split('\n').map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]); // prettier-ignore
  environment = { ...base, ...Object.fromEntries(told) };
});

afterAll(() => api?.close());

const blocks = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, code]) => code);

const QUERY = `query ($run: ID!) { run(id: $run) { groups(first: 5) { edges { node { trajectories(first: 5) { edges { node { id outcomeReward
  turns(first: 5) { edges { node { state action } } } } } } } } } } }`;

/** Its trajectories, by group, the best first. */
async function groupsOf(name: string): Promise<object[][]> {
  const [{ id }] = (await api.db.pool.query<{ id: string }>('select id from run where name = $1', [name])).rows;
  await api.project(id);
  const { data } = await api.ask(key, QUERY, { run: name });
  expect(data).toMatchObject({ run: {} });
  return data.run.groups.edges.map(
    ({ node }: { node: { trajectories: { edges: { node: { outcomeReward: number | null } }[] } } }) =>
      node.trajectories.edges
        .map((edge) => edge.node)
        .toSorted((a, b) => Number(b.outcomeReward) - Number(a.outcomeReward)),
  );
}

const turns = (state: string, action: string) => ({ edges: [{ node: { state, action } }] });

it('its example for Node.js sends two rollouts of one group', async () => {
  const [script] = blocks('js');
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script], { env: environment });
  expect([stdout, stderr]).toEqual(['', '']);
  expect(await groupsOf('shop-1')).toMatchObject([
    [
      { outcomeReward: 1, turns: turns('user:How much is tea?', 'respond:3 EUR') },
      { outcomeReward: 0, turns: turns('user:How much is tea?', 'respond:4 EUR') },
    ],
  ]);
});

const hasPython = await works('python3', '-c', 'import opentelemetry.exporter.otlp.proto.http.trace_exporter');

it.skipIf(!hasPython)(
  'its example for Python sends one (skipped where its OpenTelemetry SDK is not there)',
  async () => {
    const { stderr } = await run('python3', ['-c', blocks('python')[0]], { env: environment });
    expect(stderr).toBe('');
    expect(await groupsOf('shop-2')).toMatchObject([
      [{ outcomeReward: 1, turns: turns('user:How much is tea?', 'respond:3 EUR') }],
    ]);
  },
);

it.skipIf(!(await works('curl', '--version')))(
  'its request by hand is taken (skipped where curl is not there)',
  async () => {
    const { stdout } = await run('bash', ['-euc', blocks('sh')[1]], { env: environment });
    expect(stdout).toBe('{}');
    expect(await groupsOf('by-hand')).toMatchObject([
      [{ id: '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331', turns: turns('user:Tea?', 'respond:3 EUR') }],
    ]);
  },
);
