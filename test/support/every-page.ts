import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ServedPlatform } from './served-platform.js';

interface Visited {
  readonly path: string;
  /** Opens what is closed when one comes. */
  readonly open?: (page: Page) => Promise<unknown>;
}

/** Long names among them: what does not wrap is then wider than a telephone. */
const ESTIMATORS = ['grpo', 'hgpo', 'gae', 'reinforce-plus-plus-baseline', 'uniform-redistribution'];
const [, , , ACROSS, UP] = ESTIMATORS;

/** Every page of the dashboard, with something to see on it, of a platform with the runs `household` and `second`. */
export async function everyPage(platform: ServedPlatform): Promise<Readonly<Record<string, Visited>>> {
  const { run } = await platform.ask(
    `{ run(id: "household") { id groups(first: 20) {
      edges { node { name trainingStep outcomeMin outcomeMax trajectories { edges { node { id } } } } } } } }`,
  );
  const { run: other } = await platform.ask('{ run(id: "second") { id } }');
  const estimators = ESTIMATORS.map((id) => ({ id }));
  const { startAnalysis: analysis } = await platform.ask(
    'mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }',
    { input: { runs: [{ run: 'household' }], estimators } },
  );
  const { startAudit: audit } = await platform.ask(
    `mutation { startAudit(input: { run: "household", estimator: "grpo" }) { id } }`,
  );
  const question = `{ analysis(id: "${analysis.id}") { state } audit(id: "${audit.id}") { state } run(id: "household") { diagnostics { id } } }`;
  await expect
    .poll(() => platform.ask(question), { timeout: 150_000, interval: 500 })
    .toMatchObject({
      analysis: { state: 'COMPLETED' },
      audit: { state: 'COMPLETED' },
      run: { diagnostics: expect.arrayContaining([expect.anything()]) },
    });
  // oxlint-disable-next-line typescript/no-explicit-any
  const groups = run.groups.edges.map(({ node }: any) => node);
  // oxlint-disable-next-line typescript/no-explicit-any
  const group = groups.find(({ outcomeMin, outcomeMax }: any) => outcomeMin < outcomeMax) ?? groups[0];
  const [{ node: trajectory }] = group.trajectories.edges;
  const trajectories = `/runs/${run.id}/trajectories`;
  return {
    runs: { path: '/runs' },
    run: {
      path: `/runs/${run.id}?diagnostic=zero-variance-groups`,
      open: async (page) => {
        for (const name of ['Change', 'Start an analysis', 'Start an audit']) {
          await page.getByRole('button', { name, exact: true }).click();
        }
        await page.getByLabel(ACROSS, { exact: true }).check();
      },
    },
    group: {
      path: `/runs/${run.id}/steps/${group.trainingStep}?group=${group.name}`,
      open: async (page) => {
        await page.getByRole('region', { name: 'Shared states' }).getByRole('button').first().click();
        await page.getByRole('region', { name: 'Rollouts side by side' }).locator('.cell-looked').first().waitFor();
      },
    },
    plan: {
      path: `/runs/${run.id}/plan`,
      open: async (page) => {
        await page.getByRole('region', { name: 'Restart states' }).getByRole('link', { name: /action/ }).first().click(); // prettier-ignore
        await page.getByRole('region', { name: 'Actions to replay' }).waitFor();
      },
    },
    'signal of tokens': { path: `${trajectories}/${trajectory.id}?tokens=entropy&turn=1` },
    'credit of tokens': {
      path: `${trajectories}/${trajectory.id}?analysis=${analysis.id}&tokens=credit%3Agae&turn=1`,
      open: async (page) => {
        await page.locator('.turn-chosen .token-bar').first().waitFor();
        await page.locator('.turn-chosen').getByRole('button', { name: 'Annotate' }).click();
      },
    },
    hostile: { path: `${trajectories}/hostile` },
    comparison: {
      path: `/analyses/${analysis.id}?x=${ACROSS}&y=${UP}&area=above-above`,
      open: (page) => page.getByRole('region', { name: 'Turns of that part' }).getByRole('row').nth(1).waitFor(),
    },
    audit: { path: `/audits/${audit.id}` },
    events: { path: `/runs/${run.id}/events?event=3` },
    keys: { path: '/keys', open: (page) => page.getByRole('button', { name: 'Make a key' }).click() },
    devices: { path: '/devices' },
    compare: { path: `/compare?a=${run.id}&b=${other.id}` },
    nowhere: { path: '/nowhere' },
  };
}
