import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../support/cluster.js';
import { FAULTS } from '../support/faults.js';
import { canSeeProcesses } from '../support/processes.js';
import { whyNoDisks } from '../support/small-disk.js';
import { trial } from '../support/trial.js';

const SEED = 'faults';
const noDisks = canSeeProcesses ? whyNoDisks() : null;

describe.runIf(canSeeProcesses)('a run on two APIs and three workers keeps every promise after', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ withDisks: noDisks === null });
  });

  afterAll(async () => {
    expect(await cluster?.remove()).toEqual([]);
  });

  for (const [i, fault] of FAULTS.entries()) {
    const skipped = fault.needsDisks && noDisks;
    it.skipIf(skipped)(skipped ? `${fault.name} (skipped: ${noDisks})` : fault.name, async () => {
      expect(cluster.workers()).toHaveLength(3);
      const result = await trial(cluster, { name: `fault-${i}`, seed: `${SEED}/${i}`, faults: [fault] });
      expect(result).toMatchObject({ lost: 0, doubled: 0, findings: [] });
      expect(result.acknowledged).toBeGreaterThan(400);
    });
  }
});
