import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRun } from '#lib/sdk';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startAnalysis, whenEnded } from '../support/analyses.js';
import { eventsOf, train } from '../support/logged.js';
import { ServedPlatform, until } from '../support/served-platform.js';

const PROMISED_MS = 2_000;

let platform: ServedPlatform;
let spool: string;

beforeAll(async () => {
  spool = mkdtempSync(join(tmpdir(), 'recredit-e2e-spool-'));
  platform = await ServedPlatform.start();
});

afterAll(async () => {
  rmSync(spool, { recursive: true, force: true });
  expect(await platform?.remove()).toEqual([]);
});

const trainOn = (project: string, name: string) =>
  startRun({ project, name, url: platform.url, apiKey: platform.key, spool, sealAfterMs: 5 });

it('shows each turn of a live trajectory within two seconds of its acknowledgement, and tells who subscribed', async () => {
  const run = await trainOn('default', 'live');
  const id = await run.created();
  const told = positionsTold(platform, id!);
  const live = run.trajectory({ id: 'live', group: 'g', trainingStep: 0 });
  const waits: number[] = [];
  const seen = `query ($id: ID!) {
    trajectory(run: $id, id: "live") { state turnCount turns(first: 50) { edges { node { state action } } } } }`;
  for (let turn = 0; turn < 9; turn++) {
    live.turn({ state: `room ${turn}`, action: 'look around' });
    await run.flush();
    const acknowledged = performance.now();
    await until(`turn ${turn} is shown`, 30_000, async () => {
      const { trajectory } = await platform.ask(seen, { id });
      return trajectory?.turns.edges.at(-1)?.node.state === `room ${turn}` && trajectory.state === 'LIVE';
    });
    waits.push(performance.now() - acknowledged);
  }
  live.end({ outcomeReward: 1 });
  const { position } = await run.end();
  await until('the last position was told', 30_000, () => told.positions.at(-1) === position);
  await told.end();

  const median = waits.toSorted((a, b) => a - b)[4];
  console.info(
    `a turn is shown after ${waits.map((ms) => Math.round(ms)).join(', ')} ms, median ${Math.round(median)}`,
  );
  expect(median).toBeLessThan(PROMISED_MS);
  expect(told.positions).toEqual(told.positions.toSorted((a, b) => a - b));
  expect(new Set(told.positions).size).toBe(told.positions.length);
});

it('keeps two projects apart from end to end, though they use the same names', async () => {
  const projects = await Promise.all(
    ['alpha', 'beta'].map(async (project, won) => {
      const run = await trainOn(project, 'same');
      await train(run, 0, 64);
      run.record({ id: 'odd', group: 'odd', trainingStep: 2, outcomeReward: won, turns: [{ state: `of ${project}` }] });
      const { run: id } = await run.end();
      const { createApiKey } = await platform.ask(
        `mutation ($project: String) { createApiKey(input: { name: "k", project: $project, roles: [INGEST, READ, ANALYZE] }) { text } }`,
        { project },
      );
      return { project, id: id!, key: createApiKey.text as string };
    }),
  );
  const [alpha, beta] = projects;

  for (const { id, key, project } of projects) {
    const events = await eventsOf(platform, id);
    expect(events).toHaveLength(1 + 64 * 5 + 2 + 1 + 1);
    const analysis = await whenEnded(platform, await startAnalysis(platform, 'same', ['grpo'], { key }), key);
    expect(analysis).toMatchObject({ state: 'COMPLETED', comparison: { trajectories: 65 } });
    const query = `{ run(id: "same") { id progress { trajectoryCount } } runs { edges { node { id } } }
      projects { edges { node { name } } } trajectory(run: "same", id: "odd") { turns { edges { node { state } } } } }`;
    const answer = await platform.ask(query, {}, key);
    expect(answer.run).toEqual({ id, progress: { trajectoryCount: 65 } });
    expect(answer.runs.edges).toEqual([{ node: { id } }]);
    expect(answer.projects.edges).toEqual([{ node: { name: project } }]);
    expect(answer.trajectory.turns.edges).toEqual([{ node: { state: `of ${project}` } }]);
  }
  expect(await platform.ask(`query ($id: ID!) { run(id: $id) { id } }`, { id: beta.id }, alpha.key)).toEqual({
    run: null,
  });
  await expect(startAnalysis(platform, beta.id, ['grpo'], { key: alpha.key })).rejects.toThrow('run.unknown');
  const intruder = await startRun({ project: 'beta', name: 'same', url: platform.url, spool, apiKey: alpha.key });
  intruder.trainingStep(9, {});
  const refused = await intruder.close();
  expect(refused).toMatchObject({ sent: 0, unsent: 1, problem: { status: 404 } });
  expect(await eventsOf(platform, beta.id)).not.toContainEqual(expect.objectContaining({ trainingStep: 9 }));
});

/** Collects what `runAdvanced` tells. */
function positionsTold({ url, key }: ServedPlatform, run: string): { positions: number[]; end(): Promise<void> } {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    connectionParams: { authorization: `Bearer ${key}` },
    retryAttempts: 5,
  });
  const positions: number[] = [];
  client.subscribe<{ runAdvanced: { position: number } }>(
    { query: 'subscription ($run: ID!) { runAdvanced(run: $run) { position } }', variables: { run } },
    {
      next: ({ data }) => void positions.push(data!.runAdvanced.position),
      error: (error) => console.error(error),
      complete: () => {},
    },
  );
  return { positions, end: async () => client.dispose() };
}
