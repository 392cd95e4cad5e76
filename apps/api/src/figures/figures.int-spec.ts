import { afterAll, beforeAll, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

let api: TestApi;
let project: string;
let keys: { readonly trainer: string; readonly reader: string; readonly stranger: string };

beforeAll(async () => {
  api = await testApi();
  project = await aProject(api.db.ownerPool);
  keys = {
    trainer: await api.key(project, 'ingest'),
    reader: await api.key(null, 'read'),
    stranger: await api.key(project, 'read'),
  };
});
afterAll(() => api?.close());

const http = () => api.app.getHttpAdapter().getInstance();

const scrape = (key: string | null) =>
  http().inject({ url: '/metrics', headers: { ...(key && { authorization: `Bearer ${key}` }) } });

/** Its figures by name and labels, as a scraper reads them. */
async function figures(): Promise<Map<string, number>> {
  const { body, statusCode, headers } = await scrape(keys.reader);
  expect([statusCode, headers['content-type']]).toEqual([200, expect.stringContaining('version=0.0.4')]);
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

function append(run: string, sequence: number, ndjson: string) {
  const producer = { 'recredit-producer': 'p', 'recredit-epoch': '0', 'recredit-sequence': String(sequence) };
  const headers = { authorization: `Bearer ${keys.trainer}`, 'content-type': 'application/x-ndjson', ...producer };
  return http().inject({ method: 'POST', url: `/v1/runs/${run}/events`, headers, payload: ndjson });
}

const eventsOf = (step: number) => aTrainingStep(step).map((event) => `${JSON.stringify(event)}\n`);

it('are for keys that read every project', async () => {
  expect((await scrape(null)).statusCode).toBe(401);
  expect((await scrape(keys.trainer)).statusCode).toBe(403);
  expect((await scrape(keys.stranger)).statusCode).toBe(403);
});

it('count what ingest took and refused', async () => {
  const run = await aRun(api.db.ownerPool, { project });
  const events = eventsOf(0);
  const before = await figures();
  for (const status of [200, 200]) expect((await append(run, 0, events.join(''))).statusCode).toBe(status);
  expect((await append(run, 1, '{"type":"nothing"}\n')).statusCode).toBe(422);
  expect((await append(run, 7, events.join(''))).statusCode).toBe(409);
  const after = await figures();
  const grew = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);

  expect(grew('recredit_ingest_events_total{outcome="stored"}')).toBe(events.length);
  expect(grew('recredit_ingest_events_total{outcome="duplicate"}')).toBe(events.length);
  expect(grew('recredit_ingest_batches_total{outcome="stored"}')).toBe(1);
  expect(grew('recredit_ingest_bytes_total{form="decoded"}')).toBe(2 * events.join('').length);
  expect(grew('recredit_ingest_bytes_total{form="stored"}')).toBeGreaterThan(0);
  expect(grew('recredit_ingest_refusals_total{code="events.invalid"}')).toBe(1);
  expect(grew('recredit_ingest_refusals_total{code="sequence.unexpected"}')).toBe(1);
  expect(grew('recredit_ingest_seconds_count')).toBe(2);
  expect(grew('recredit_ingest_seconds_bucket{le="+Inf"}')).toBe(2);
});

it('count what is refused at the door: no key', async () => {
  const url = '/v1/runs/any/events';
  const before = (await figures()).get('recredit_ingest_refusals_total{code="key.missing"}') ?? 0;
  await http().inject({ method: 'POST', url, headers: { 'content-type': 'application/x-ndjson' }, payload: '{}' });
  expect((await figures()).get('recredit_ingest_refusals_total{code="key.missing"}')).toBe(before + 1);
});

it('name routes as they are declared, so that strangers make no series', async () => {
  await http().inject({
    url: '/v1/runs/somebody/trajectories.arrow',
    headers: { authorization: `Bearer ${keys.reader}` },
  });
  await http().inject({ url: '/no/such/place', headers: { authorization: `Bearer ${keys.reader}` } });
  const names = [...(await figures()).keys()];
  expect(names.some((name) => name.includes('route="/v1/runs/:run/trajectories.arrow"'))).toBe(true);
  expect(names.filter((name) => name.includes('somebody') || name.includes('/no/such'))).toEqual([]);
});

it('tell the lag of the projector, the queue and what shards took', { timeout: 60_000 }, async () => {
  const run = await aRun(api.db.ownerPool, { project });
  await api.append(run, aTrainingStep(0));
  await api.db.ownerPool.query(
    `insert into credit_result (key, run_id, training_step, estimator, version, outcome, device, seconds)
     values ('a', $1, 0, 'grpo', 1, 'missing', 'cpu', 1.5), ('b', $1, 1, 'grpo', 1, 'missing', 'cpu', 2)`,
    [run],
  );
  const lag = `recredit_projector_lag_events{run="${run}"}`;
  await expect.poll(async () => (await figures()).get(lag), { timeout: 20_000 }).toBe(aTrainingStep(0).length);
  const found = await figures();
  expect(found.get('recredit_database_up')).toBe(1);
  expect(found.get('recredit_projector_lagging_runs')).toBeGreaterThanOrEqual(1);
  expect(found.get('recredit_shard_seconds_total{estimator="grpo",device="cpu"}')).toBe(3.5);
  expect(found.get('recredit_shard_results_total{estimator="grpo",device="cpu",outcome="missing"}')).toBe(2);
  expect(found.get('recredit_pool_connections{pool="callers",state="waiting"}')).toBe(0);
  expect(found.get('process_cpu_seconds_total')).toBeGreaterThan(0);

  await api.project(run);
  await expect.poll(async () => (await figures()).has(lag), { timeout: 20_000 }).toBe(false);
});
