import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { train } from '#app/example-trainer';
import { startRun } from '#lib/sdk';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedPlatform } from '../support/served-platform.js';

const CHROMIUM = process.env.RECREDIT_TEST_CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'];
const PLANTED = '<script>document.title = "taken"</script><img src=x onerror="document.title=1">\u202Egnp.exe';

describe.skipIf(!existsSync(CHROMIUM))(`the dashboard, in the browser at ${CHROMIUM} (skipped without one)`, () => {
  let platform: ServedPlatform;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    platform = await ServedPlatform.start();
    const options = { project: 'default', name: 'household', url: platform.url, apiKey: platform.key };
    const run = await startRun({ ...options, spool: `${platform.home}/spool` });
    await train({ run, steps: 6, groupsPerStep: 6, seed: 1 });
    const hostile = run.trajectory({ id: 'hostile', group: 'hostile-task', trainingStep: 6 });
    hostile.turn({ state: PLANTED, action: PLANTED, reward: 0 });
    hostile.end({ outcomeReward: 1, success: true });
    await run.end();

    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
    page.setDefaultTimeout(15_000);
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
  });

  afterAll(async () => {
    await browser?.close();
    await platform?.remove();
  });

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
    expect(new URL(page.url()).pathname).toMatch(/^\/runs\//);

    await page.getByRole('button', { name: 'Start an analysis' }).click();
    for (const id of ['grpo', 'hgpo', 'discounted-return', 'gae']) await page.getByLabel(id, { exact: true }).check();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const analysis = page.locator('article.analysis');
    await analysis.getByText('completed').waitFor({ timeout: 60_000 });
    await analysis.getByRole('link').first().click();

    await heading('Comparison of 4 estimators');
    await page.getByRole('cell', { name: 'discounted-return' }).waitFor();
    await page.getByRole('img', { name: 'Matrix of rank correlations' }).locator('canvas').first().waitFor();
    await page.getByRole('img', { name: 'Mean credit by turn index' }).locator('canvas').first().waitFor();
    await page.getByRole('region', { name: 'Most disputed turns' }).getByRole('link').first().click();
    const turn = page.locator('.turn-chosen');
    await turn.waitFor();
    expect(await turn.locator('.lanes .name').allTextContents()).toEqual(
      expect.arrayContaining(['exactAdvantage', 'grpo', 'hgpo', 'discounted-return', 'gae']),
    );
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
    expect(await turn.locator('.lanes .name').allTextContents()).toContain('humanLabel');
    await page.getByLabel('Tokens').selectOption('entropy');
    await turn.locator('.token').first().waitFor();
    expect(page.url()).toContain('tokens=entropy');

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
    expect(page.url()).toContain('state=');
    const rollouts = Number(await states.getByRole('row').nth(1).getByRole('cell').nth(1).textContent());
    expect(rollouts).toBeGreaterThan(1);
    const marked = page.getByRole('region', { name: /^Rollouts of/ }).locator('tr.marked');
    await expect.poll(() => marked.count()).toBe(rollouts);
    await page.locator('.chosen-state a').first().click();
    await page.locator('.turn-chosen').waitFor();
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
    expect(page.url()).toContain('turn=0');
    expect(complaints).toEqual([]);
  });

  it('says what was measured with its evidence, and audits what the trainer logged', async () => {
    const { run } = await platform.ask('{ run(id: "household") { id } }');
    await page.goto(`${platform.url}/runs/${run.id}`);
    const reading = page.getByRole('button', { name: /^Groups without a signal/ });
    await reading.click();
    expect(page.url()).toContain('diagnostic=zero-variance-groups');
    await page.reload(); // the address has it all
    await page.locator('.reading-details .evidence a').first().click();
    await heading(/^Training step \d/);
    await page.goBack();

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

  it('fits a telephone: nothing is wider than the screen', async () => {
    const narrow = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await narrow.goto(`${platform.url}/#key=${platform.key}`);
    const { runs } = await platform.ask('{ runs { edges { node { id name } } } }');
    const { id } = runs.edges.find(({ node }: { node: { name: string } }) => node.name === 'household').node;
    await narrow.getByRole('link', { name: 'household' }).waitFor();
    for (const path of ['/runs', `/runs/${id}`, `/runs/${id}/steps/0`, `/runs/${id}/trajectories/hostile`]) {
      await narrow.goto(platform.url + path);
      await narrow.getByRole('heading', { level: 1 }).waitFor();
      await sleep(300); // charts take their size after they are there
      expect(await narrow.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    }
    await narrow.close();
  });
});
