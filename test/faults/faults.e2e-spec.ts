import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../support/cluster.js';
import { FAULTS } from '../support/faults.js';
import { canSeeProcesses } from '../support/processes.js';
import { whyNoDisks } from '../support/small-disk.js';
import { trial } from '../support/trial.js';

const SEED = 'faults';
/** Two platforms, three workers: on a busy machine each takes its time to start and to stop. */
const PATIENCE_MS = 300_000;
const noDisks = canSeeProcesses ? whyNoDisks() : null;

describe.runIf(canSeeProcesses)('a run on two APIs and three workers keeps every promise after', () => {
  let starting: Promise<Cluster>;
  let cluster: Cluster;

  beforeAll(async () => {
    starting = Cluster.start({ withDisks: noDisks === null });
    cluster = await starting;
  }, PATIENCE_MS);

  afterAll(async () => {
    expect(await (await starting).remove()).toEqual([]);
  }, PATIENCE_MS);

  for (const [i, fault] of FAULTS.entries()) {
    const skipped = fault.needsDisks && noDisks;
    it.skipIf(skipped)(
      skipped ? `${fault.name} (skipped: ${noDisks})` : fault.name,
      async () => {
        await cluster.allWorkersAreBack();
        const result = await trial(cluster, { name: `fault-${i}`, seed: `${SEED}/${i}`, faults: [fault] });
        expect(result).toMatchObject({ lost: 0, doubled: 0, findings: [] });
        expect(result.acknowledged).toBeGreaterThan(400);
      },
      PATIENCE_MS,
    );
  }
});
