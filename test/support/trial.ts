import { readdirSync } from 'node:fs';
import { seededRandom } from '#lib/numeric';
import { sync } from '#lib/sdk';
import type { Cluster } from './cluster.js';
import { progress, type Fault, type World } from './faults.js';
import { intact, type Intact } from './intact.js';
import { LedgerTrainers } from './ledger-trainers.js';
import { until } from './served-platform.js';

export interface TrialOptions {
  /** of the run that is written, new to the cluster */
  readonly name: string;
  readonly seed: string;
  /** one after the other, with trainers writing before, during and after each */
  readonly faults: readonly Fault[];
  readonly trainers?: number;
  /** of a trainer between two trajectories, on average */
  readonly pauseMs?: number;
  readonly onRun?: (run: TriedRun) => void;
  readonly onFault?: (fault: Fault) => void;
}

/** Where what was tried can be looked at again. */
export interface TriedRun {
  readonly runId: string;
  readonly ledgers: readonly string[];
}

/** Records a run while things break, then looks whether it keeps its promises. */
export async function trial(cluster: Cluster, options: TrialOptions): Promise<Intact> {
  const { name, seed, faults, trainers: count = 2, pauseMs = 8, onRun = () => {}, onFault = () => {} } = options;
  const trainers = new LedgerTrainers(cluster, name, seed, pauseMs);
  const findings: string[] = [];
  trainers.start(count);
  try {
    const runId = await idOf(cluster, name);
    onRun({ runId, ledgers: trainers.ledgers });
    const world: World = { cluster, trainers, runId, random: seededRandom(seed), findings };
    await progress(world, 300);
    for (const fault of faults) {
      onFault(fault);
      await fault.inject(world);
      await progress(world);
    }
    findings.push(...(await trainers.finish()));
    findings.push(...(await deliveredRest(cluster)));
    const { findings: more, ...counts } = await intact(await cluster.ground(), runId, trainers.ledger(runId));
    return { ...counts, findings: [...findings, ...more] };
  } finally {
    await trainers.kill();
  }
}

async function idOf({ first }: Cluster, name: string): Promise<string> {
  let id: string | undefined;
  await until('the run is registered', 180_000, async () => {
    const { run } = await first.ask(`query ($name: ID!) { run(id: $name) { id } }`, { name });
    id = run?.id;
    return id !== undefined;
  });
  return id!;
}

/** What killed trainers left in the spool and no later life of theirs took up. */
async function deliveredRest({ spool, proxy, first }: Cluster): Promise<string[]> {
  const { unsent, refused } = await sync(spool, { url: proxy.url, apiKey: first.key });
  const left = readdirSync(spool);
  if (unsent + refused + left.length === 0) return [];
  return [`the spool still holds ${unsent} unsent and ${refused} refused events: ${left.join(', ')}`];
}
