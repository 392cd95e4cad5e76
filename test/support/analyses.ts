import { until, type ServedPlatform } from './served-platform.js';

const ENDED_MS = 240_000;
const ESTIMATORS = ['grpo', 'rloo', 'reinforce-plus-plus', 'lite-ppo', 'discounted-return', 'gae', 'gigpo', 'hgpo'];

/** Asks for an analysis of one run by some estimators, all of them if not said. @returns its id */
export async function startAnalysis(
  platform: ServedPlatform,
  run: string,
  estimators: readonly string[] = ESTIMATORS,
  { key = platform.key }: { key?: string } = {},
): Promise<string> {
  const input = { runs: [{ run }], estimators: estimators.map((id) => ({ id })) };
  const query = `mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }`;
  return (await platform.ask(query, { input }, key)).startAnalysis.id;
}

/** How far it is. */
export async function progressOf(platform: ServedPlatform, id: string, key = platform.key) {
  const query = `query ($id: ID!) { analysis(id: $id) { progress { state total done failed running } } }`;
  return (await platform.ask(query, { id }, key)).analysis.progress as {
    readonly state: string;
    readonly total: number;
    readonly done: number;
    readonly failed: number;
    readonly running: number;
  };
}

/** Waits for its end. */
export async function whenEnded(platform: ServedPlatform, id: string, key = platform.key) {
  await until('the analysis has ended', ENDED_MS, async () => {
    const { state } = await progressOf(platform, id, key);
    return state !== 'PLANNING' && state !== 'RUNNING';
  });
  const query = `query ($id: ID!) {
    analysis(id: $id) { state failure asOf progress { total done failed } comparison { trajectories turns detail } } }`;
  return (await platform.ask(query, { id }, key)).analysis;
}
