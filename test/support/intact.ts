import { isDeepStrictEqual } from 'node:util';
import { creditFileKey } from '#lib/analysis';
import { headOf, verifyRun } from '#lib/event-log';
import { rebuild } from '#lib/projection';
import type { Pool, Queryable, SegmentStore } from '#lib/storage';
import { everythingOf } from '../../libs/projection/src/read-model-rows.builder.js';
import { whenEnded } from './analyses.js';
import { idOf, sha256Of, type Ledger } from './ledger.js';
import { linesOfClients, snapshotOf, type LoggedBatch } from './log-lines.js';
import { until, type ServedPlatform } from './served-platform.js';

/** One estimator for each way that credit is computed: groups, returns, values, states, and one that lacks its signal. */
const ESTIMATORS = ['grpo', 'discounted-return', 'gae', 'gigpo', 'hgpo'];
const PROJECTED_MS = 180_000;

export interface Intact {
  /** different events that clients were told are in the log */
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
  /** what was wanted and what was found; none: all is as promised */
  readonly findings: readonly string[];
}

/** Where a run lies. */
export interface Ground {
  readonly platform: ServedPlatform;
  readonly pool: Pool;
  /** whom nothing holds back */
  readonly owner: Pool;
  readonly store: SegmentStore;
}

/** The six promises that a run must keep whatever happened while it was recorded. Nobody may be writing to it. */
export async function intact(ground: Ground, runId: string, ledger: Ledger): Promise<Intact> {
  const { platform, pool, owner, store } = ground;
  const { batches, head } = await snapshotOf(pool, runId);
  const counts = exactlyOnce(batches, ledger);
  const findings = [...counts.findings, ...gapless(batches, head), ...(await chained(pool, runId))];
  const asOf = await headOf(pool, runId);
  await forgetResults(owner, store, runId);
  const first = await analysed(platform, runId, asOf);
  findings.push(...first.findings, ...(await rebuilt(pool, store, runId)));
  const bytes = await resultsOf(owner, store, runId);
  await forgetResults(owner, store, runId);
  const second = await analysed(platform, runId, asOf);
  findings.push(...second.findings);
  findings.push(...differences('comparisons as of one position', first.comparison, second.comparison));
  findings.push(...differences('credit as of one position', bytes, await resultsOf(owner, store, runId)));
  return { ...counts, findings };
}

/** 1: every acknowledged event lies at its position as it was sent, every recorded one is there, and none is there twice. */
export function exactlyOnce(batches: readonly LoggedBatch[], { recorded, acknowledged }: Ledger): Intact {
  const at = new Map<number, string>();
  const times = new Map<string, number>();
  for (const { position, line } of linesOfClients(batches)) {
    at.set(position, line);
    const id = idOf(line);
    times.set(id, (times.get(id) ?? 0) + 1);
  }
  const lost = new Map<string, string>();
  const places = new Map<string, number>();
  const findings: string[] = [];
  for (const { id, position, sha256 } of acknowledged) {
    const line = at.get(position);
    if (line === undefined) lost.set(id, `${id}: acknowledged at ${position}, where nothing of a client's lies`);
    else if (sha256Of(line) !== sha256) lost.set(id, `${id}: acknowledged at ${position}, found ${line.slice(0, 120)}`);
    const known = places.get(id) ?? position;
    if (known !== position) findings.push(`${id}: acknowledged at ${known} and again at ${position}`);
    places.set(id, position);
  }
  for (const id of recorded) if (!times.has(id)) lost.set(id, `${id}: recorded by the SDK, not in the log`);
  const doubled = [...times].filter(([, count]) => count > 1);
  findings.push(...lost.values(), ...doubled.map(([id, count]) => `${id}: ${count} times in the log`));
  return {
    acknowledged: places.size,
    lost: lost.size,
    doubled: doubled.reduce((sum, [, count]) => sum + count - 1, 0),
    findings: atMost(10, findings),
  };
}

/** 2: positions from 0 to the head without a gap; each producer's sequences without one, its epochs never going back. */
export function gapless(batches: readonly LoggedBatch[], head: number): readonly string[] {
  const findings: string[] = [];
  const last = new Map<string, LoggedBatch>();
  let next = 0;
  for (const batch of batches) {
    const { firstPosition, eventCount, producer, epoch, sequence, lines } = batch;
    const of = `batch ${sequence} of ${producer}`;
    if (firstPosition !== next) findings.push(`${of}: position ${next} was wanted, found ${firstPosition}`);
    if (lines.length !== eventCount) findings.push(`${of}: says ${eventCount} events and holds ${lines.length}`);
    const before = last.get(producer);
    const expected = (before?.sequence ?? -1) + 1;
    if (sequence !== expected) findings.push(`${of}: sequence ${expected} was wanted`);
    if (before && epoch < before.epoch) findings.push(`${of}: epoch ${epoch} after ${before.epoch}`);
    last.set(producer, batch);
    next = firstPosition + eventCount;
  }
  if (next !== head) findings.push(`the head says ${head} events, the batches hold ${next}`);
  return atMost(10, findings);
}

/** 3: the chain of hashes is unbroken. */
export async function chained(db: Pool, runId: string): Promise<string[]> {
  const { broken } = await verifyRun(db, runId);
  return broken ? [`the chain is broken: ${JSON.stringify(broken)}`] : [];
}

/** 4: an analysis of all its training steps completes, with no shard failed. */
export async function analysed(platform: ServedPlatform, runId: string, asOf: number) {
  const input = { runs: [{ run: runId, asOf }], estimators: ESTIMATORS.map((id) => ({ id })) };
  const { startAnalysis } = await platform.ask(START, { input });
  const analysis = await whenEnded(platform, startAnalysis.id);
  const { total, done, failed } = analysis.progress;
  const isWhole = analysis.state === 'COMPLETED' && total > 0 && done === total && failed === 0;
  const { shards } = isWhole ? { shards: null } : (await platform.ask(FAILED, { id: startAnalysis.id })).analysis;
  const said = JSON.stringify({
    state: analysis.state,
    failure: analysis.failure,
    progress: analysis.progress,
    shards,
  });
  return {
    findings: isWhole ? [] : [`an analysis did not complete: ${said.slice(0, 1000)}`],
    comparison: analysis.comparison,
  };
}

/**
 * 5: read models and segments are level with the log, and a rebuild makes the same rows and the same bytes of it. Where
 * the platform itself adds an event meanwhile, an alert say, they are looked at again.
 */
export async function rebuilt(pool: Pool, store: SegmentStore, runId: string): Promise<string[]> {
  for (let tries = 5; ; tries--) {
    const head = await headOf(pool, runId);
    const findings = await rebuiltOnce(pool, store, runId);
    if (tries === 0 || (await headOf(pool, runId)) === head) return findings;
  }
}

async function rebuiltOnce(pool: Pool, store: SegmentStore, runId: string): Promise<string[]> {
  await until('the run is projected', PROJECTED_MS, async () => {
    const { rows } = await pool.query('select position::float8 from projection_checkpoint where run_id = $1', [runId]);
    return rows[0]?.position === (await headOf(pool, runId));
  });
  const before = await everythingOf(pool, store, runId);
  if (!before.tables.segment?.length) return ['no segment was cut'];
  await rebuild(pool, store, runId);
  const after = await everythingOf(pool, store, runId);
  const tables = Object.keys(before.tables).flatMap((table) =>
    differences(`${table} before and after a rebuild`, before.tables[table], after.tables[table]),
  );
  return [...tables, ...differences('segments before and after a rebuild', before.files, after.files)];
}

/** 6: what an analysis of the run has computed, with the hash of each file as it lies there now. */
export async function resultsOf(db: Queryable, store: SegmentStore, runId: string): Promise<string[]> {
  const { rows } = await db.query(
    `select key, outcome, training_step, estimator, missing, encode(file_sha256, 'hex') as sha256
     from credit_result where run_id = $1 order by training_step, key`,
    [runId],
  );
  return Promise.all(
    rows.map(async ({ key, outcome, sha256, ...row }) => {
      const found = outcome === 'credit' ? sha256Of(await store.get(creditFileKey(key))) : null;
      return JSON.stringify({ ...row, key, outcome, sha256, found: found === sha256 ? 'as said' : found });
    }),
  );
}

/** So that the next analysis computes all of it again. */
async function forgetResults(owner: Pool, store: SegmentStore, runId: string): Promise<void> {
  const { rows } = await owner.query('delete from credit_result where run_id = $1 returning key', [runId]);
  await owner.query('delete from shard_summary where run_id = $1', [runId]);
  for (const { key } of rows) await store.delete(creditFileKey(key));
}

function differences(what: string, wanted: unknown, found: unknown): string[] {
  if (isDeepStrictEqual(wanted, found)) return [];
  const [one, other] = [entriesOf(wanted), entriesOf(found)];
  const first = [...new Set([...one.keys(), ...other.keys()])].find((key) => one.get(key) !== other.get(key));
  const cut = (text: string | undefined) => (text === undefined ? 'nothing' : text.slice(0, 200));
  return [`${what} differ, first at ${first}: ${cut(one.get(first!))} and ${cut(other.get(first!))}`];
}

const entriesOf = (value: unknown) =>
  new Map(Object.entries(Object(value) as object).map(([key, part]) => [key, JSON.stringify(part)]));

const atMost = (count: number, findings: readonly string[]) =>
  findings.length <= count ? findings : [...findings.slice(0, count), `and ${findings.length - count} more`];

const START = `mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }`;
const FAILED = `query ($id: ID!) {
  analysis(id: $id) { shards(state: FAILED, first: 3) { edges { node { trainingStep reason } } } } }`;
