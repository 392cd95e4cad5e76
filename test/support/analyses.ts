import { createHash } from 'node:crypto';
import { until, type ServedPlatform } from './served-platform.js';

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
  await until('the analysis has ended', 90_000, async () => {
    const { state } = await progressOf(platform, id, key);
    return state !== 'PLANNING' && state !== 'RUNNING';
  });
  const query = `query ($id: ID!) {
    analysis(id: $id) { state failure asOf progress { total done failed } comparison { trajectories turns detail } } }`;
  return (await platform.ask(query, { id }, key)).analysis;
}

/** Every result there is, with the hash of its file as it lies in the store. */
export async function resultsOn(platform: ServedPlatform): Promise<string[]> {
  const { rows } = await platform
    .pool()
    .query(
      `select key, training_step as step, estimator, outcome, encode(file_sha256, 'hex') as sha256 from credit_result`,
    );
  const store = await platform.store();
  const files = await store.list('credit/');
  const contents = new Map<string, string>();
  for (const file of files)
    contents.set(
      file,
      createHash('sha256')
        .update(await store.get(file))
        .digest('hex'),
    );
  const told = rows.map(({ key, step, estimator, outcome, sha256 }) => {
    const file = `credit/${key.slice(0, 2)}/${key}.arrow`;
    return `${step} ${estimator} ${key} ${outcome} ${sha256} ${contents.get(file) === sha256 ? 'as stored' : 'OTHER FILE'}`;
  });
  return [...told, `${files.length} files`].toSorted();
}
