import { seededRandom } from '#lib/numeric';
import { Cluster } from '../support/cluster.js';
import { FAULTS } from '../support/faults.js';
import { chained, exactlyOnce, gapless } from '../support/intact.js';
import { readLedger } from '../support/ledger.js';
import { snapshotOf } from '../support/log-lines.js';
import { whyNoDisks } from '../support/small-disk.js';
import { trial, type TriedRun } from '../support/trial.js';

export interface SoakOptions {
  readonly minutes: number;
  /** which faults come when, how many trainers there are and what they write */
  readonly seed: string;
  /** told what goes on */
  readonly note: (text: string) => void;
  /** set: the run that is being written is the last one */
  readonly signal: AbortSignal;
}

export interface Soaked {
  readonly faults: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
  /** all that was not as promised, in words */
  readonly findings: readonly string[];
}

/**
 * Writes one run after the other to one cluster while faults break it, and looks after each whether all promises are
 * kept; at the end once more whether everything that was ever acknowledged is there.
 */
export async function soak({ minutes, seed, note, signal }: SoakOptions): Promise<Soaked> {
  const random = seededRandom(`soak/${seed}`);
  const noDisks = whyNoDisks();
  if (noDisks) note(`no disk is filled: ${noDisks}`);
  const possible = FAULTS.filter(({ needsDisks }) => !needsDisks || !noDisks);
  const cluster = await Cluster.start({ withDisks: noDisks === null });
  const runs: TriedRun[] = [];
  const findings: string[] = [];
  let faults = 0;
  try {
    const end = performance.now() + minutes * 60_000;
    for (let round = 0; (round === 0 || performance.now() < end) && !signal.aborted; round++) {
      const chosen = Array.from({ length: 1 + random.integer(4) }, () => possible[random.integer(possible.length)]);
      const tried = await trial(cluster, {
        name: `soak-${round}`,
        seed: `${seed}/${round}`,
        faults: chosen,
        trainers: 2 + random.integer(3),
        pauseMs: 6 + random.integer(24),
        onRun: (run) => runs.push(run),
        onFault: ({ name }) => note(`run ${round}, fault ${++faults}: ${name}`),
      });
      const { acknowledged, lost, doubled } = tried;
      note(`run ${round}: ${acknowledged} acknowledged, ${lost} lost, ${doubled} doubled`);
      for (const finding of tried.findings) note(`run ${round}: ${finding}`);
      findings.push(...tried.findings.map((finding) => `run ${round}: ${finding}`));
    }
  } catch (error) {
    note(`the soak cannot go on: ${(error as Error).stack}`);
    note(cluster.platforms.map((platform) => platform.log()).join('\n'));
    findings.push((error as Error).message);
  }
  try {
    return { faults, ...(await counted(cluster, runs, findings)) };
  } finally {
    await cluster.remove();
  }
}

/** Over all runs, as they lie there after the last fault. */
async function counted(cluster: Cluster, runs: readonly TriedRun[], before: readonly string[]) {
  await cluster.startAll();
  const { pool } = cluster.pools();
  const sum = { acknowledged: 0, lost: 0, doubled: 0, findings: [...before] };
  for (const { runId, ledgers } of runs) {
    const { batches, head } = await snapshotOf(pool, runId);
    const { acknowledged, lost, doubled, findings } = exactlyOnce(batches, readLedger(ledgers, runId));
    sum.acknowledged += acknowledged;
    sum.lost += lost;
    sum.doubled += doubled;
    const others = [...gapless(batches, head), ...(await chained(pool, runId))];
    sum.findings.push(...[...findings, ...others].map((finding) => `in the end, ${runId}: ${finding}`));
  }
  return sum;
}
