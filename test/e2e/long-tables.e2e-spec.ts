import { startRun } from '#lib/sdk';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserTitle, hasBrowser, TestBrowser, tooWide, violations } from '../support/browser.js';
import { ServedPlatform } from '../support/served-platform.js';

/** A row that is half under the header is as small as it looks. */
const HALF_COVERED = ['target-size'];
const RUNS = 260;
const GROUPS = 150;
/** Rows that may exist at once, of however many there are. */
const FEW = 110;

describe.skipIf(!hasBrowser)(browserTitle('long tables'), () => {
  let platform: ServedPlatform;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    platform = await ServedPlatform.start();
    const wide = await startRun({
      project: 'default',
      name: 'wide',
      url: platform.url,
      apiKey: platform.key,
      spool: `${platform.home}/spool`,
    });
    for (let group = 0; group < GROUPS; group++) {
      const rollout = wide.trajectory({ id: `rollout ${group}`, group: `group ${group}`, trainingStep: 0 });
      rollout.turn({ state: 's', action: 'a', reward: 0 });
      rollout.end({ outcomeReward: (group * 7) % GROUPS, success: true });
    }
    await wide.end();
    await platform.ownerPool().query(SEED);
    browser = await TestBrowser.launch();
    page = await open();
  });

  afterAll(async () => {
    await browser?.close();
    await platform?.remove();
  });

  async function open(options?: Parameters<TestBrowser['newPage']>[0]): Promise<Page> {
    const opened = await browser.newPage(options);
    await opened.goto(`${platform.url}/#key=${platform.key}`);
    await opened.getByRole('heading', { level: 1 }).waitFor();
    return opened;
  }

  const tableOf = (name: string, on = page) => on.getByRole('region', { name, exact: true });
  const rowsOf = (table: Locator) => table.locator('tbody tr[aria-rowindex]');
  const runLink = (name: string) => tableOf('Runs').getByRole('link', { name, exact: true });
  const status = () => page.getByRole('status').textContent();

  /** By the key that goes to the end of what there is, as often as more comes. */
  async function toTheEnd(table: Locator, last: Locator): Promise<void> {
    await table.focus();
    await expect
      .poll(async () => {
        await page.keyboard.press('End');
        return last.isVisible();
      })
      .toBe(true);
  }

  it('shows every run to whoever goes on by key, and few of them at once', async () => {
    await page.goto(`${platform.url}/runs`);
    await runLink('run 259').waitFor();
    await expect.poll(status).toBe(`${RUNS + 1} runs`);
    const table = tableOf('Runs');
    await toTheEnd(table, runLink('run 000'));
    expect(await rowsOf(table).count()).toBeLessThan(FEW);
    expect(await table.getByRole('table').getAttribute('aria-rowcount')).toBe(String(RUNS + 2));
    const last = rowsOf(table).last();
    expect(await last.getAttribute('aria-rowindex')).toBe(String(RUNS + 2));
    const head = table.getByRole('columnheader', { name: 'Name' });
    expect(Math.round((await head.boundingBox())!.y - (await table.boundingBox())!.y)).toBe(0); // it stays at the top

    await expect.poll(() => Number(new URL(page.url()).searchParams.get('row'))).toBeGreaterThan(200);
    await page.reload();
    await runLink('run 010').waitFor();
    await runLink('run 010').click();
    await page.getByRole('heading', { level: 1, name: 'run 010' }).waitFor();
    await page.goBack();
    await runLink('run 010').waitFor();
    expect(browser.complaints).toEqual([]);
  });

  it('filters and sorts all runs, not those that are on screen', async () => {
    await page.goto(`${platform.url}/runs`);
    await page.getByRole('searchbox').fill('RUN lr-9');
    await expect.poll(status).toBe('26 runs');
    await expect.poll(() => page.url()).toContain('text=RUN');
    await page.getByRole('button', { name: 'Turns' }).click();
    await expect.poll(() => page.url()).toContain('sort=-turns');
    const names = () => rowsOf(tableOf('Runs')).getByRole('link').allTextContents();
    await expect.poll(async () => (await names()).slice(0, 2)).toEqual(['run 009', 'run 019']); // the older, the longer
    expect(await tableOf('Runs').getByRole('columnheader', { name: 'Turns' }).getAttribute('aria-sort')).toBe(
      'descending',
    );
    await page.getByLabel('State').selectOption('failed');
    await expect.poll(status).toBe('13 runs');
    await page.reload();
    await expect.poll(status).toBe('13 runs');
    await expect.poll(async () => (await names()).slice(0, 2)).toEqual(['run 009', 'run 029']);
    expect(await page.getByRole('searchbox').inputValue()).toBe('RUN lr-9');
    await page.getByLabel('Alerts').selectOption('open');
    await page.getByText('No run is like that').waitFor();
    await page.getByRole('button', { name: 'Show all runs' }).click();
    await expect.poll(status).toBe(`${RUNS + 1} runs`);
    await page.getByLabel('Alerts').selectOption('open');
    await expect.poll(status).toMatch(/^2[67] runs$/); // the real one may have an alert too
    expect(browser.complaints).toEqual([]);
  });

  it('keeps the old rows until the new ones are there', async () => {
    await page.goto(`${platform.url}/runs`);
    await runLink('run 259').waitFor();
    const gate = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.getByRole('searchbox').fill('run 12');
    await expect.poll(() => page.url()).toContain('text=');
    await expect.poll(() => tableOf('Runs').getAttribute('aria-busy')).toBe('true');
    expect(await runLink('run 259').isVisible()).toBe(true);
    gate.resolve();
    await expect.poll(status).toBe('13 runs'); // 012, 112, 212 and 120 to 129
    expect(await runLink('run 259').count()).toBe(0);
    expect(await tableOf('Runs').getAttribute('aria-busy')).toBe('false');
    await page.unroute('**/graphql');
  });

  it('compares two that were never on one screen', async () => {
    await page.goto(`${platform.url}/runs`);
    await page.getByRole('checkbox', { name: 'Compare run 259' }).check();
    await page.getByRole('searchbox').fill('run 003');
    await page.getByRole('checkbox', { name: 'Compare run 003' }).check();
    await page.getByRole('link', { name: 'Compare the two' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => page.locator('main').textContent()).toContain('run 003');
    expect(browser.complaints).toEqual([]);
  });

  it('keeps the focus on a row that is scrolled away', async () => {
    await page.goto(`${platform.url}/runs`);
    await runLink('run 258').focus();
    const table = tableOf('Runs');
    await expect
      .poll(async () => {
        await table.evaluate((box) => box.scrollBy(0, 3000));
        return rowsOf(table).last().getAttribute('aria-rowindex');
      })
      .toBe(String(RUNS + 2));
    expect(await page.evaluate('document.activeElement.textContent')).toBe('run 258');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    await expect.poll(() => runLink('run 258').isVisible()).toBe(true);
  });

  it('sorts all groups of a step, and keeps the place among them', async () => {
    const { run } = await platform.ask('{ run(id: "wide") { id } }');
    await page.goto(`${platform.url}/runs/${run.id}/steps/0`);
    const table = tableOf('Groups');
    await page.getByRole('button', { name: 'Mean' }).click();
    await expect.poll(() => rowsOf(table).first().getByRole('cell').nth(3).textContent()).toBe(`${GROUPS - 1}.000`);
    await page.getByText(`${GROUPS} groups`, { exact: true }).waitFor();
    const least = table.getByRole('link', { name: 'group 0', exact: true });
    await toTheEnd(table, least);
    await least.click();
    await tableOf('Rollouts of group 0').getByRole('link', { name: 'rollout 0' }).waitFor();
    await expect.poll(() => Number(new URL(page.url()).searchParams.get('row'))).toBeGreaterThan(100);
    await page.reload();
    await least.waitFor();
    expect(await rowsOf(table).count()).toBeLessThan(FEW);
    expect(browser.complaints).toEqual([]);
  });

  it('goes down the event log to its first event, or to any other at once', async () => {
    const { run } = await platform.ask('{ run(id: "wide") { id position } }');
    await page.goto(`${platform.url}/runs/${run.id}/events`);
    await page.getByText('follows the run').waitFor();
    const table = tableOf('Events');
    const first = table.getByRole('link', { name: '0', exact: true });
    await toTheEnd(table, first);
    await page.getByText('stands still').waitFor();
    expect(await rowsOf(table).last().getAttribute('aria-rowindex')).toBe(String(run.position + 1));
    await page.getByRole('spinbutton', { name: 'Go to' }).fill('100');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Event 100' }).waitFor();
    await expect.poll(() => rowsOf(table).first().getByRole('link').first().textContent()).toBe('100');
    await page.getByRole('link', { name: 'Newest' }).click();
    await table.getByRole('link', { name: String(run.position - 1), exact: true }).waitFor();
    await page.getByText('follows the run').waitFor();
    expect(browser.complaints).toEqual([]);
  });

  it.each([1280, 390])(
    'can be read by everybody while scrolled, %i wide, and moves nothing as it comes',
    async (width) => {
      const { run } = await platform.ask('{ run(id: "wide") { id } }');
      const viewer = await open({ viewport: { width, height: 844 } });
      await viewer.addInitScript({ content: WATCH_SHIFTS });
      for (const [path, name] of [
        ['/runs', 'Runs'],
        [`/runs/${run.id}/steps/0`, 'Groups'],
        [`/runs/${run.id}/events`, 'Events'],
        ['/keys', 'Keys'],
      ] as const) {
        await viewer.goto(platform.url + path);
        const table = tableOf(name, viewer);
        await rowsOf(table).first().waitFor();
        expect([name, await viewer.evaluate<number>('globalThis.shifted')]).toEqual([
          name,
          expect.toSatisfy((value: number) => value < 0.02),
        ]);
        await table.evaluate((box) => box.scrollBy(0, 2000));
        await expect.poll(() => rowsOf(table).last().isVisible()).toBe(true);
        for (const colorScheme of ['light', 'dark'] as const) {
          await viewer.emulateMedia({ colorScheme });
          expect(await tooWide(viewer)).toBeLessThanOrEqual(0);
          expect([name, colorScheme, await violations(viewer, { without: HALF_COVERED })]).toEqual([
            name,
            colorScheme,
            [],
          ]);
        }
      }
      await viewer.close();
      expect(browser.complaints).toEqual([]);
    },
  );
});

/** Runs as a trainer would have left them: the older, the more turns; each tenth with an open alert. */
const SEED = `
  insert into run (id, project_id, name, config, created_at)
  select 'seeded-' || i, (select id from project where name = 'default'), 'run ' || lpad(i::text, 3, '0'),
    jsonb_build_object('schedule', 'LR-' || i % 10), timestamptz '2026-01-01' + i * interval '1 minute'
  from generate_series(0, ${RUNS - 1}) as i;
  insert into run_progress (run_id, state, position, training_step_max, trajectory_count, finished_count, incomplete_count,
    superseded_count, turn_count, success_count, outcome_count, outcome_sum, group_count, annotation_count, judged_count)
  select 'seeded-' || i, case when i / 10 % 2 = 0 then 'failed' else 'completed' end, 0, 1, 1, 1, 0, 0, 1000 - i, 1, 1, 1, 1, 0, 2
  from generate_series(0, ${RUNS - 1}) as i;
  insert into alert (id, run_id, diagnostic, rule, level, says, saw, opened_step, opened_as_of)
  select 'seeded-' || i, 'seeded-' || i, 'd', 'r', 'warn', '', '{}', 0, 0 from generate_series(0, ${RUNS - 1}, 10) as i`;

/** Runs in the page: sums how far things moved that nobody had touched. */
const WATCH_SHIFTS = `globalThis.shifted = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ value, hadRecentInput }) => {
    if (!hadRecentInput) globalThis.shifted += value;
  })).observe({ type: 'layout-shift', buffered: true });`;
