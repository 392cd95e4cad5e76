import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { train } from '#app/example-trainer';
import { startRun } from '#lib/sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserTitle, hasBrowser, painted, TestBrowser, tooWide, violations } from '../support/browser.js';
import { everyPage } from '../support/every-page.js';
import { ServedPlatform } from '../support/served-platform.js';

/** Where a picture of every page is kept; not said: nowhere. */
const PICTURES = process.env.RECREDIT_TEST_PICTURES;
const PLANTED = '<script>document.title = "taken"</script><img src=x onerror="document.title=1">\u202Egnp.exe';

describe.skipIf(!hasBrowser)(browserTitle('the dashboard'), () => {
  let platform: ServedPlatform;
  let browser: TestBrowser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    platform = await ServedPlatform.start();
    const options = { project: 'default', name: 'household', url: platform.url, apiKey: platform.key };
    const run = await startRun({ ...options, spool: `${platform.home}/spool` });
    await train({ run, steps: 6, groupsPerStep: 6, seed: 1 });
    const second = await startRun({ ...options, name: 'second', spool: `${platform.home}/spool-second` });
    await train({ run: second, steps: 2, groupsPerStep: 2, seed: 2 });
    await second.end();
    const hostile = run.trajectory({ id: 'hostile', group: 'hostile-task', trainingStep: 6 });
    hostile.turn({ state: PLANTED, action: PLANTED, reward: 0 });
    hostile.end({ outcomeReward: 1, success: true });
    await run.end();

    browser = await TestBrowser.launch();
    ({ complaints } = browser);
    page = await browser.newPage();
  });

  afterAll(async () => {
    await browser?.close();
    await platform?.remove();
  });

  /** Signed in, by a key behind the address where nobody is yet. */
  const visit = (path: string) => page.goto(`${platform.url}${path}#key=${platform.key}`);
  const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();

  it('tells the story from signing in to a disputed turn and out again', async () => {
    await page.goto(platform.url);
    await page.getByLabel('API key').fill('rk_no_such');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('not known');
    expect(complaints.splice(0).filter((text) => !text.includes('401'))).toEqual([]); // the browser's own remark

    await page.getByLabel('API key').fill(platform.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading('Runs');
    await page.getByRole('link', { name: 'household' }).click();
    await heading('household');
    await page.locator('.curve canvas').first().waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/runs\//);

    await page.getByRole('button', { name: 'Start an analysis' }).click();
    for (const id of ['grpo', 'hgpo', 'discounted-return', 'gae']) await page.getByLabel(id, { exact: true }).check();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const analysis = page.locator('article.analysis');
    await analysis.getByText('completed').waitFor({ timeout: 60_000 });
    await analysis.getByRole('link').first().click();

    await heading('Comparison of 4 estimators');
    const profiles = page.getByRole('region', { name: 'Estimators' });
    await profiles.getByRole('cell', { name: 'discounted-return' }).waitFor();
    await page.getByRole('img', { name: 'Matrix of the agreement' }).locator('canvas').first().waitFor();
    await page.getByRole('img', { name: 'Mean credit by turn index' }).locator('canvas').first().waitFor();
    await page.getByRole('region', { name: 'Most disputed turns' }).getByRole('link').first().click();
    const turn = page.locator('.turn-chosen');
    await turn.waitFor();
    await expect
      .poll(() => turn.locator('.lanes .name').allTextContents())
      .toEqual(expect.arrayContaining(['exactAdvantage', 'grpo', 'hgpo', 'discounted-return', 'gae']));
    const chosen = await turn.getAttribute('aria-label');
    const restored = page.url();
    await page.goto(restored);
    await turn.waitFor();
    expect(await turn.getAttribute('aria-label')).toBe(chosen);

    await turn.getByRole('button', { name: 'Annotate' }).click();
    await turn.getByLabel('Your name').fill('<b>ada</b>');
    await turn.getByRole('button', { name: 'good' }).click();
    await turn.locator('.annotation').waitFor();
    expect(await turn.locator('.annotations p').textContent()).toMatch(/^humanLabel 1by <b>ada<\/b>/);
    await turn.locator('.lanes .name', { hasText: 'humanLabel' }).waitFor();
    await page.getByLabel('Tokens').selectOption('entropy');
    await turn.locator('.token').first().waitFor();
    await expect.poll(() => page.url()).toContain('tokens=entropy');
    await page.getByRole('combobox', { name: 'Tokens' }).selectOption('credit:gae');
    await turn.locator('.token-bar').first().waitFor();
    expect(await turn.locator('.tokens figcaption').textContent()).toMatch(/^\d+ tokens? by credit of gae: [+−]/);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.goto(restored);
    await page.getByLabel('API key').waitFor();
    expect(complaints).toEqual([]);
  });

  it('draws where the rollouts of a group meet, and what was done there', async () => {
    const { run } = await platform.ask(
      '{ run(id: "household") { id groups(first: 20) { edges { node { name trainingStep outcomeMin outcomeMax } } } } }',
    );
    const { node } = run.groups.edges.find(({ node }: any) => node.outcomeMin < node.outcomeMax) ?? run.groups.edges[0];
    await page.goto(`${platform.url}/runs/${run.id}/steps/${node.trainingStep}?group=${node.name}#key=${platform.key}`);
    const states = page.getByRole('region', { name: 'Shared states' });
    await states.getByRole('button').first().click();
    await expect.poll(() => page.url()).toContain('state=');
    const rollouts = Number(await states.getByRole('row').nth(1).getByRole('cell').nth(1).textContent());
    expect(rollouts).toBeGreaterThan(1);
    const marked = page.getByRole('region', { name: /^Rollouts of/ }).locator('tr.marked');
    await expect.poll(() => marked.count()).toBe(rollouts);
    const strips = page.getByRole('region', { name: 'Rollouts side by side' });
    const passing = strips.locator('svg:has(.cell-looked)');
    await expect.poll(() => passing.count()).toBe(rollouts);
    await strips.locator('.cell').first().hover(); // all rollouts begin alike
    await expect.poll(() => passing.count()).toBe(await strips.locator('svg').count());
    await page.locator('.chosen-state a').first().click();
    await page.locator('.turn-chosen').waitFor();

    const telephone = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await telephone.goto(`${platform.url}/runs/${run.id}/steps/${node.trainingStep}?group=${node.name}#key=${platform.key}`); // prettier-ignore
    await telephone.locator('.strips a').first().waitFor();
    // siblings differ at their end, so that is what is seen of them
    const areEndsSeen = await telephone.evaluate<boolean[]>(`[...document.querySelectorAll('.strips a')].map((a) =>
      a.lastElementChild !== null && a.lastElementChild.getBoundingClientRect().right <= a.getBoundingClientRect().right)`);
    expect(new Set(areEndsSeen)).toEqual(new Set([true]));
    await telephone.close();
    expect(complaints).toEqual([]);
  });

  it('shows hostile text as text, and goes from turn to turn by key', async () => {
    await page.goto(`${platform.url}/runs#key=${platform.key}`);
    await heading('Runs');
    expect(page.url()).not.toContain('rk_');
    await page.goto(`${platform.url}/runs/household/trajectories/hostile`);
    await heading('hostile');
    const said = page.locator('.said').first();
    await said.waitFor();
    expect(await said.textContent()).toBe(PLANTED.replace('\u202E', '\\u202E'));
    expect(await page.locator('main script, main img').count()).toBe(0);
    expect(await page.title()).toBe('hostile · Recredit');
    await page.keyboard.press('j');
    await page.locator('.turn-chosen').waitFor();
    await expect.poll(() => page.url()).toContain('turn=0');
    expect(complaints).toEqual([]);
  });

  it('says what was measured with its evidence, and audits what the trainer logged', async () => {
    const { run } = await platform.ask('{ run(id: "household") { id } }');
    await visit(`/runs/${run.id}`);
    const reading = page.getByRole('button', { name: /^Groups without a signal/ });
    await reading.click({ timeout: 60_000 }); // diagnostics follow the run
    await expect.poll(() => page.url()).toContain('diagnostic=zero-variance-groups');
    await page.reload(); // the address has it all
    await page.locator('.reading-details .evidence a').first().click();
    await heading(/^Training step \d/);
    await page.goBack();

    const settings = page.getByRole('region', { name: 'Settings' }).first();
    await settings.getByRole('button', { name: 'Change' }).click();
    await settings.getByLabel('warn fraction').fill('7');
    await settings.getByRole('button', { name: 'Ask with these' }).click();
    await settings.getByRole('alert').getByText('Too big').waitFor();
    expect(complaints.splice(0).filter((text) => !text.includes('400'))).toEqual([]); // the browser's own remark
    await settings.getByLabel('warn fraction').fill('0.9');
    await settings.getByRole('button', { name: 'Ask with these' }).click();
    await settings.getByRole('row', { name: /^warn fraction .*0\.9.*0\.5.*this key/ }).waitFor();

    await page.getByRole('button', { name: 'Start an audit' }).click();
    await page.getByLabel('The trainer says it used').selectOption('gigpo');
    await page.getByRole('button', { name: 'Start the audit' }).click();
    await page.getByRole('link', { name: 'loggedAdvantage against gigpo' }).click();
    await heading('Audit of loggedAdvantage against gigpo');
    const finding = page.getByRole('region', { name: 'Findings' }).getByRole('row').nth(1);
    expect(await finding.textContent()).toMatch(/^match/);
    expect(await page.locator('.verdict').textContent()).toContain('are those of gigpo');
    expect(complaints).toEqual([]);
  });

  it('plans the next rollouts, and verifies what the run rests on', async () => {
    await visit('/runs');
    await page.getByRole('link', { name: 'household' }).click();
    await page.getByRole('link', { name: 'Plan' }).click();
    await heading('Plan');
    await page.getByRole('region', { name: 'Tasks' }).getByRole('row').nth(1).waitFor({ timeout: 60_000 });
    const exported = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export JSON' }).click();
    const file = await (await exported).path();
    const { run } = await platform.ask('{ run(id: "household") { id plan { bands { tasks { task } } } } }');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ run: run.id, bands: run.plan.bands });
    const restart = page
      .getByRole('region', { name: 'Restart states' })
      .getByRole('link', { name: /action/ })
      .first();
    const actions = Number.parseInt((await restart.textContent())!, 10);
    await restart.click();
    const replay = page.getByRole('region', { name: 'Actions to replay' }).getByRole('listitem');
    await expect.poll(() => replay.count()).toBe(actions);

    await visit(`/runs/${run.id}/events`);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.locator('.figures dd', { hasText: /^all/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('looks at a stretch of all curves by dragging over one, or by two numbers', async () => {
    const { run } = await platform.ask('{ run(id: "household") { id } }');
    await visit(`/runs/${run.id}`);
    const chart = page.locator('.chart-brushed').nth(1);
    await chart.locator('canvas').waitFor();
    await painted(page);
    const { x, y, width } = (await chart.boundingBox())!;
    await page.mouse.move(x + width * 0.4, y + 60);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.8, y + 80, { steps: 4 });
    await page.mouse.up();
    const from = page.getByRole('spinbutton', { name: 'Steps' });
    const to = page.getByRole('spinbutton', { name: 'to' });
    await expect.poll(() => page.url()).toMatch(/steps=[12]\.\.[345]$/);
    await expect.poll(() => page.url()).toContain(`steps=${await from.inputValue()}..${await to.inputValue()}`);
    await page.reload();
    await expect.poll(() => from.inputValue()).toMatch(/^[12]$/);
    await to.fill('3');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toMatch(/steps=[12]\.\.3$/);
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => page.url()).not.toContain('steps');
    expect(complaints).toEqual([]);
  });

  it('leads from a part of the plane of two estimators to the turns behind it', async () => {
    const { run } = await platform.ask('{ run(id: "household") { analyses(first: 1) { edges { node { id } } } } }');
    await visit(`/analyses/${run.analyses.edges[0].node.id}?x=hgpo&y=discounted-return`);
    await page.getByRole('button', { name: 'hgpo −, discounted-return +' }).click();
    await expect.poll(() => page.url()).toContain('area=below-above');
    const turns = page.getByRole('region', { name: 'Turns of that part' });
    await turns.getByRole('row').nth(1).waitFor();
    const [, hgpo, discounted] = await turns.getByRole('row').nth(1).getByRole('cell').allTextContents();
    expect([hgpo[0], discounted[0]]).toEqual(['−', '+']);
    await turns.getByRole('link').first().click();
    await expect.poll(() => page.locator('.turn-chosen .lanes').textContent()).toContain(`hgpo${hgpo}`);
    await page.goBack();
    await turns.waitFor();

    const plane = page.getByRole('img', { name: /a point per turn/ });
    await plane.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await plane.boundingBox())!;
    await page.mouse.move(x + width * 0.2, y + height * 0.1);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.9, y + height * 0.8, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => decodeURIComponent(page.url())).toMatch(/area=-?[\d.]+,[\d.]+,-?[\d.]+,[\d.]+/);
    await expect.poll(() => turns.getByRole('row').count()).toBeGreaterThan(1);
    expect(complaints).toEqual([]);
  });

  it('leads on from what is not there', async () => {
    for (const path of ['', '/plan', '/events', '/steps/0', '/trajectories/t']) {
      await visit(`/runs/nowhere${path}`);
      await page.getByText('You see no such run').waitFor();
      await page.getByRole('main').getByRole('link', { name: 'See all runs' }).waitFor();
    }
    await visit('/runs/household/steps/x');
    await page.getByText('No group in this training step').waitFor();
    expect(await page.getByRole('main').textContent()).not.toContain('NaN');
    await visit('/runs/household/steps/5');
    const neighbours = page.getByRole('navigation', { name: 'Neighbouring training steps' }).getByRole('link');
    await expect.poll(() => neighbours.allTextContents()).toEqual(['← 4', '6 →']);
    await visit('/runs/household/steps/6'); // the last one
    await expect.poll(() => neighbours.allTextContents()).toEqual(['← 5']);
    await visit('/runs/household/steps/999');
    await expect.poll(() => neighbours.allTextContents()).toEqual(['← 6']);
    expect(complaints.splice(0)).toEqual([]);
  });

  it('has the workers look for devices', async () => {
    await visit('/devices');
    await page.getByRole('button', { name: 'Look for devices' }).click();
    const taken = page.getByRole('region', { name: 'Devices of workers' }).getByRole('row', { name: /taken/ });
    await taken.first().waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Look for devices' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('says so while the platform is away, keeps what is on screen, and follows the run once it is back', async () => {
    const { run } = await platform.ask('{ run(id: "household") { id position } }');
    await visit(`/runs/${run.id}/events`);
    await page.getByText('follows the run').waitFor();
    await platform.stop();
    await page.locator('.behind').waitFor();
    await heading('Event log');
    await platform.start();
    await page.locator('.behind').waitFor({ state: 'detached', timeout: 30_000 });
    await platform.ask(
      `mutation { startAnalysis(input: { runs: [{ run: "${run.id}" }], estimators: [{ id: "grpo" }] }) { id } }`,
    );
    await page.getByRole('link', { name: run.position.toLocaleString('en'), exact: true }).waitFor({ timeout: 10_000 });
    complaints.length = 0; // the browser's own remarks on requests that nobody answered
  });

  it('follows a run while it goes on', async () => {
    const options = { project: 'default', name: 'live', url: platform.url, apiKey: platform.key };
    const run = await startRun({ ...options, spool: `${platform.home}/spool-live` });
    run.trainingStep(0, { loss: 2 });
    const figure = page.locator('.figures div', { hasText: 'Turns' }).locator('dd');
    await page.goto(`${platform.url}/runs`);
    await page.getByRole('link', { name: 'live' }).click();
    await heading('live');
    await page.locator('.curve canvas').waitFor();
    const rollout = run.trajectory({ id: 'one', group: 'g', trainingStep: 1 });
    for (let turn = 0; turn < 3; turn++) rollout.turn({ state: 's', action: 'a', reward: 0 });
    await expect.poll(() => figure.textContent(), { timeout: 10_000 }).toBe('3');
    await run.close();
    expect(complaints).toEqual([]);
  });

  let pages: ReturnType<typeof everyPage> | undefined;

  it.each([
    ['a desk', 1280],
    ['a telephone', 390],
  ])(
    'on %s every page can be read by everybody by day and by night, and none is wider than the screen',
    async (name, width) => {
      const viewer = await browser.newPage({ viewport: { width, height: 844 } });
      await viewer.goto(`${platform.url}/#key=${platform.key}`);
      await viewer.getByRole('heading', { level: 1 }).waitFor();
      for (const [page, { path, open }] of Object.entries(await (pages ??= everyPage(platform)))) {
        await viewer.goto(platform.url + path);
        await viewer.getByRole('heading', { level: 1 }).waitFor();
        const isLoading = () => viewer.locator('.skeleton').count();
        await expect.poll(isLoading, { timeout: 15_000 }).toBe(0);
        await open?.(viewer);
        await expect.poll(isLoading, { timeout: 15_000 }).toBe(0);
        for (const colorScheme of ['light', 'dark'] as const) {
          await viewer.emulateMedia({ colorScheme });
          await painted(viewer);
          expect(await tooWide(viewer), page).toBeLessThanOrEqual(0);
          expect(await violations(viewer), `${page}, ${colorScheme}`).toEqual([]);
          if (PICTURES) {
            await viewer.screenshot({ path: join(PICTURES, `${page}, ${name}, ${colorScheme}.png`), fullPage: true });
          }
        }
      }
      await viewer.close();
      expect(complaints).toEqual([]);
    },
  );
});
