import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRun } from '#lib/sdk';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import { madeRecords } from './made-records.js';
import { withPlatform } from './bench-platform.js';

const AT_ONCE = 16;
const SECONDS = 3;

const RUN = '{ run(id: "bench") { id name state position progress { turnCount successRate } } }';
const PAGE = `{ run(id: "bench") { trajectories(first: 20) { edges { node { id group outcomeReward
  turns(first: 16) { edges { node { index state action reward } } } } } } } }`;

/** Requests a second, 16 at once, from this process to a platform in another one, both on this machine. */
export const api: Benchmark = {
  name: 'api',
  run: () =>
    withPlatform(async ({ url, key }) => {
      await record(url, key);
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const ask = (query: string) => () =>
        fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
      return rowsAgainst(
        'requests/s',
        ['/healthz', await requestsPerSecond(() => fetch(`${url}/healthz`))],
        [
          ['GraphQL: a run and its progress', await requestsPerSecond(ask(RUN))],
          ['GraphQL: 20 trajectories with their 320 turns', await requestsPerSecond(ask(PAGE))],
        ],
      );
    }),
};

async function record(url: string, apiKey: string): Promise<void> {
  const spool = await mkdtemp(join(tmpdir(), 'recredit-bench-'));
  const run = await startRun({ project: 'default', name: 'bench', url, apiKey, spool });
  for (const each of madeRecords(1_024)) run.record(each);
  const { unsent, refused } = await run.end({ deadlineMs: 60_000 });
  await rm(spool, { recursive: true, force: true });
  if (unsent + refused > 0) throw new Error('the platform did not take what is to be asked for');
}

async function requestsPerSecond(request: () => Promise<Response>): Promise<number> {
  const work = async (until: number) => {
    let count = 0;
    for (; performance.now() < until; count++) {
      const response = await request();
      const text = await response.text();
      if (!response.ok || text.includes('"errors"')) throw new Error(text);
    }
    return count;
  };
  const several = async (ms: number) => {
    const until = performance.now() + ms;
    const counts = await Promise.all(Array.from({ length: AT_ONCE }, () => work(until)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  await several(1000);
  return (await several(SECONDS * 1000)) / SECONDS;
}
