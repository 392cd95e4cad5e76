import { existsSync } from 'node:fs';
import { sealBatch } from '#lib/event-log';
import { Projector } from '#lib/projection';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { withApiHere, type ApiHere } from './api-here.js';
import type { BenchRow } from './bench-row.js';
import type { Benchmark, BenchOptions } from './benchmark.js';
import { quantile } from './ingest.bench.js';
import { madeRecords, ndjsonOf } from './made-records.js';
import { recordRun, TURNS_OF_GROUP, type RecordedRun } from './recorded-run.js';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'];
const STEPS = 1_000;
const LONG = 'long';
const LONG_TURNS = 1_000;
const TIMES = 7;
const SCROLL_MS = 4_000;
const NOWHERE = 'the first view of an address that is nothing';
const STILL = 'a frame of a page that stands still';

/** What there is to look at, as a selector of each part that makes the page meaningful. */
const RUN_PARTS = ['[role=region][aria-label="Training steps"] tbody tr', '.curve:nth-child(3) canvas'];

/**
 * In a browser, on a run of 1,000 training steps and a trajectory of 1,000 turns: the time from an address to the view
 * that was asked for, with nothing cached, beside an address that is nothing; and what frames take while lists scroll,
 * beside those of a page that stands still. Says so where there is no browser.
 */
export const dashboard: Benchmark = {
  name: 'dashboard',
  async run({ turns = STEPS * TURNS_OF_GROUP }: BenchOptions = {}) {
    if (!existsSync(CHROMIUM)) {
      process.stderr.write(`dashboard: skipped, there is no browser at ${CHROMIUM}\n`);
      return [];
    }
    return withApiHere(async (api) => {
      const run = await recordRun(api, STEPS, Math.max(1, Math.round(turns / (STEPS * TURNS_OF_GROUP))));
      await recordLong(api, run);
      const url = await api.app.listen(0, '127.0.0.1').then(() => api.app.getUrl());
      const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
      try {
        const visitor = await signedIn(browser, url, api.key);
        return [...(await firstViews(visitor, run.id)), ...(await scrolling(visitor, run.id))];
      } finally {
        await browser.close();
      }
    });
  },
};

interface Visitor {
  readonly url: string;
  /** Signed in, and nothing is cached. */
  readonly newContext: () => Promise<BrowserContext>;
}

async function signedIn(browser: Browser, url: string, key: string): Promise<Visitor> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/runs#key=${key}`);
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
  const storageState = await context.storageState();
  await context.close();
  return { url, newContext: () => browser.newContext({ storageState, viewport: { width: 1280, height: 860 } }) };
}

async function firstViews({ url, newContext }: Visitor, run: string): Promise<BenchRow[]> {
  const view = async (path: string, parts: readonly string[]): Promise<number> => {
    const took: number[] = [];
    for (let i = 0; i < TIMES; i++) {
      const context = await newContext();
      const page = await context.newPage();
      await page.addInitScript({ content: watchFor(parts) });
      await page.goto(`${url}${path}`);
      took.push(await page.evaluate<number>('globalThis.seen'));
      await context.close();
    }
    return quantile(took, 0.5);
  };
  const base = await view('/nowhere', ['h1, h2']);
  const row = (name: string, ms: number) => ({
    name,
    value: Math.round(ms),
    unit: 'ms',
    yardstick: NOWHERE,
    ratio: ms / base,
  });
  return [
    row(NOWHERE, base),
    row('runs', await view('/runs', ['tbody tr'])),
    row(`run of ${STEPS} training steps: its list and three curves`, await view(`/runs/${run}`, RUN_PARTS)),
    row(
      'training step and one of its groups',
      await view(`/runs/${run}/steps/${STEPS - 1}?group=g0`, ['[aria-label="Rollouts of g0"] tbody tr']),
    ),
    row(`trajectory of ${LONG_TURNS} turns: its first`, await view(`/runs/${run}/trajectories/${LONG}`, ['.turn-row'])),
    row('event log', await view(`/runs/${run}/events`, ['tbody tr'])),
  ];
}

/** Runs in the page: notes when all of the parts are there, and painted. */
const watchFor = (parts: readonly string[]) => `globalThis.seen = new Promise((resolve) => {
  const look = () => {
    if (!${JSON.stringify(parts)}.every((part) => document.querySelector(part))) return void requestAnimationFrame(look);
    requestAnimationFrame(() => resolve(performance.now()));
  };
  requestAnimationFrame(look);
})`;

interface Frames {
  /** milliseconds from one to the next */
  readonly ms: readonly number[];
  /** milliseconds of tasks that are longer than 50 */
  readonly longTasks: readonly number[];
  readonly scrolled: number;
}

async function scrolling({ url, newContext }: Visitor, run: string): Promise<BenchRow[]> {
  const context = await newContext();
  const page = await context.newPage();
  const frames = async (path: string, part: string, pixels: number, box?: string): Promise<Frames> => {
    await page.goto(`${url}${path}`);
    await page.locator(part).first().waitFor();
    await settled(page);
    return page.evaluate<Frames>(scroll(pixels, box));
  };
  const still = await frames('/nowhere', 'h1, h2', 0);
  const base = quantile(still.ms, 0.5);
  const row = (name: string, ms: number) => ({
    name,
    value: Math.round(ms * 10) / 10,
    unit: 'ms',
    yardstick: STILL,
    ratio: ms / base,
  });
  const rows: BenchRow[] = [row(STILL, base)];
  const lists = [
    [`the turns of a trajectory of ${LONG_TURNS}`, `/runs/${run}/trajectories/${LONG}`, '.turn-row'],
    ['a run', `/runs/${run}`, RUN_PARTS[1]],
    ['a group', `/runs/${run}/steps/${STEPS - 1}?group=g0`, '[aria-label="Rollouts of g0"] tbody tr'],
    [`a list of ${STEPS} training steps`, `/runs/${run}`, RUN_PARTS[0], '[aria-label="Training steps"]'],
    ['the event log, which is read meanwhile', `/runs/${run}/events`, 'tbody tr', '.table-long'],
  ] as const;
  for (const [name, path, part, box] of lists) {
    const { ms, longTasks, scrolled } = await frames(path, part, 40, box);
    rows.push(
      row(`scrolling ${name} by ${Math.round(scrolled)} px: frame, p50`, quantile(ms, 0.5)),
      row('the same, p99', quantile(ms, 0.99)),
      row(
        `the same, ${longTasks.length} tasks over 50 ms, together`,
        longTasks.reduce((sum, one) => sum + one, 0),
      ),
    );
  }
  await context.close();
  return rows;
}

/** Nothing was asked for a while. */
const settled = (page: Page) => page.waitForLoadState('networkidle');

/** Runs in the page: down by so many pixels a frame, and up again from its end. @param box what scrolls; not said: the page */
const scroll = (pixels: number, box?: string) => `(async () => {
  const list = ${box === undefined ? 'document.scrollingElement' : `document.querySelector(${JSON.stringify(box)})`};
  const longTasks = [];
  const observer = new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)));
  observer.observe({ type: 'longtask' });
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const ms = [];
  let [step, scrolled] = [${pixels}, 0];
  const started = await nextFrame();
  for (let last = started; last < started + ${SCROLL_MS}; ) {
    const before = list.scrollTop;
    list.scrollBy({ top: step, behavior: 'instant' });
    if (list.scrollTop === before) step = -step;
    scrolled += Math.abs(list.scrollTop - before);
    const now = await nextFrame();
    ms.push(now - last);
    last = now;
  }
  observer.disconnect();
  return { ms, longTasks, scrolled };
})()`;

async function recordLong({ log, platform, store }: ApiHere, run: RecordedRun): Promise<void> {
  const turns = madeRecords(Math.ceil(LONG_TURNS / 16))
    .flatMap((record) => record.turns)
    .slice(0, LONG_TURNS);
  const [record] = madeRecords(1);
  const event = {
    type: 'trajectory.recorded',
    at: new Date(0).toISOString(),
    ...record,
    turns,
    id: LONG,
    trainingStep: run.steps - 1,
  };
  await log.append(
    run.id,
    await sealBatch({ producerId: LONG, epoch: 0, sequence: 0, ndjson: ndjsonOf([event]), eventCount: 1 }),
  );
  const projector = new Projector({ pool: platform, store });
  await projector.projectRun(run.id);
  await projector.stop();
}
