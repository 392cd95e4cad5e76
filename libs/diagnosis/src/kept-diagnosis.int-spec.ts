import type { Diagnosis } from '#lib/diagnostics';
import { expect, it } from 'vitest';
import { recordedRun } from '../../../test/support/recorded-run.js';
import { keepDiagnosis } from './kept-diagnosis.js';
import { keptReadings } from './kept-readings.fixture.js';

const here = recordedRun();

/** A reading that says `x` of each training step. */
const readingOf = (id: string, x: readonly number[]): Diagnosis => ({
  id,
  values: {},
  reasons: {},
  sentence: `${x.length} steps`,
  evidence: [],
  steps: x.map((value, trainingStep) => ({ trainingStep, values: { x: value }, observations: 1 })),
  alerts: [],
  missing: [],
  failed: [],
  settings: {},
});

/** [diagnostic and part] the transaction that wrote it last */
async function written(): Promise<Record<string, string>> {
  const { rows } = await here.db.pool.query(
    `select diagnostic || part as name, xmin::text from diagnostic_reading_part where run_id = $1 order by 1`,
    [here.run],
  );
  return Object.fromEntries(rows.map(({ name, xmin }) => [name, xmin]));
}

it('writes of what is said of each training step the parts that are others, and forgets those that are gone', async () => {
  const ones = (count: number) => Array.from({ length: count }, () => 1);
  const changed = ones(131);
  changed[70] = 2;
  let before: Record<string, string> = {};
  for (const [a, b, parts] of [
    [ones(130), ones(64), ['a0', 'a1', 'a2', 'b0']],
    [ones(130), ones(64), []],
    [ones(131), ones(65), ['a2', 'b1']],
    [changed, ones(65), ['a1']],
    [changed.slice(0, 10), [], ['a0']],
    [changed, null, ['a0', 'a1', 'a2']],
  ] as const) {
    const readings = [readingOf('a', a), ...(b ? [readingOf('b', b)] : [])];
    await keepDiagnosis(here.db.pool, here.run, { asOf: 1, settingsVersion: 0, readings, pendingSteps: 0 }, 0);
    expect(Object.values(await keptReadings(here.db.pool, here.run))).toEqual(readings);
    const now = await written();
    expect(Object.keys(now).filter((name) => now[name] !== before[name])).toEqual(parts);
    before = now;
  }
});
