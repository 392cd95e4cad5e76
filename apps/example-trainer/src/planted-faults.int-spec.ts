import { pathToFileURL } from 'node:url';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEstimator } from '#lib/credit';
import { auditRun, auditTask, startAudit, type AuditedStep, type AuditTask } from '#lib/diagnosis';
import type { StepAudit } from '#lib/diagnostics';
import { EventLog, sealBatch } from '#lib/event-log';
import { seededRandom } from '#lib/numeric';
import { Projector } from '#lib/projection';
import type { TrajectoryRecord, Turn } from '#lib/protocol';
import { startRun } from '#lib/sdk';
import { openSegmentStore, type SegmentStore } from '#lib/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../test/support/api.js';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { creditBy } from './credit-step.js';
import { FAULTS, planted, type FaultId } from './plant.js';
import type { RunPort } from './port.js';
import { train } from './train.js';

/** As many batches as methods/diagnostics.md has; of about as many rollouts, in groups that differ in size. */
const STEPS = 200;
/** Much entropy, so that tasks are neither solved nor failed by all: what is not told apart by rewards has no fault to see. */
const TRAINED = {
  estimator: 'grpo',
  steps: STEPS,
  groupsPerStep: 8,
  groupSize: 5,
  taskCount: 20,
  learningRate: 0.02,
  entropyWeight: 0.3,
  lost: 0.5,
  rejected: 0.15,
};

const FAULT_IDS = Object.keys(FAULTS) as FaultId[];
/** What a trainer may do to numbers that are right. */
const SOUND = { float32: Math.fround, bfloat16 } as const;

function bfloat16(value: number): number {
  const bits = new Uint32Array(Float32Array.of(value).buffer);
  bits[0] = ((bits[0] + 0x7fff + ((bits[0] >>> 16) & 1)) & 0xffff0000) >>> 0;
  return new Float32Array(bits.buffer)[0];
}

let db: TestDatabase;
let folder: string;
let store: SegmentStore;
let run: string;
/** by fault, the training steps in which it can be seen: it changes a number, and enough of them that differ */
const visible = new Map<FaultId, Set<number>>(FAULT_IDS.map((fault) => [fault, new Set()]));

function withFaults(rollouts: readonly TrajectoryRecord[], correct: ReturnType<typeof creditBy>): TrajectoryRecord[] {
  const right = correct(rollouts).turn;
  const credits = FAULT_IDS.map((fault) => {
    const random = seededRandom(`${fault}/${rollouts[0].trainingStep}`);
    return [fault, planted(correct, fault, random)(rollouts)] as const;
  });
  const firstTurn = rollouts.map((_, i) => rollouts.slice(0, i).reduce((sum, { turns }) => sum + turns.length, 0));
  const ofEach = (turns: Float64Array) => firstTurn.map((row) => turns[row]);
  const told = credits.filter(([fault, { turn }]) => isTold(fault, rollouts, ofEach(right), ofEach(turn)));
  const isHidden = (fault: FaultId) => !told.some(([known]) => known === fault);
  let [turnRow, tokenRow] = [0, 0];
  return rollouts.map((record) => ({
    ...record,
    turns: record.turns.map((turn) => {
      const mask = turn.tokens!['mask'] as number[];
      const at = turnRow++;
      const from = tokenRow;
      tokenRow += mask.length;
      const signals: Record<string, number> = {};
      const tokens: Record<string, number[]> = { mask };
      for (const [kind, rounded] of Object.entries(SOUND)) signals[`right.${kind}`] = rounded(right[at]);
      for (const [fault, credit] of credits) {
        if (credit.token) tokens[fault] = [...credit.token.subarray(from, tokenRow)].map(Math.fround);
        else signals[fault] = Math.fround(credit.turn[at]);
        const isOff = credit.token
          ? mask.some((inMask, k) => (inMask ? right[at] : 0) !== credit.token![from + k])
          : Math.abs(credit.turn[at] - right[at]) > 1e-4;
        if (isOff && !isHidden(fault)) visible.get(fault)!.add(record.trainingStep);
      }
      return { ...turn, signals, tokens };
    }),
  }));
}

/**
 * Whether a step tells enough: two groups of mixed outcomes, as the batches of methods/diagnostics.md have, and what its
 * section 9, step 2, asks of a fault of this kind.
 */
function isTold(
  fault: FaultId,
  rollouts: readonly TrajectoryRecord[],
  right: readonly number[],
  logged: readonly number[],
) {
  const groups = Map.groupBy(rollouts, ({ group }) => group).values();
  const mixed = groups.filter((of) => new Set(of.map(({ outcomeReward }) => outcomeReward)).size > 1);
  if ([...mixed].length < 2) return false;
  const distinct = (values: readonly number[]) => new Set(values.map((value) => value.toFixed(6))).size;
  const size = right.map(Math.abs).filter((value) => value > 0);
  if (fault === 'scaled') return distinct(size) >= 2;
  if (fault === 'clipped') return size.filter((value) => value > 0.5).length >= 2;
  if (fault === 'zeroed-rows') return distinct(logged.filter((value) => value !== 0)) >= 2;
  return fault !== 'shifted' || distinct(right) > 2;
}

/** The audit of one signal, step by step. */
async function audited(
  signal: string,
): Promise<{ steps: readonly (readonly [number, StepAudit])[]; sentence: string }> {
  const id = await startAudit({ pool: db.pool, queue: async () => {} }, run, { estimator: 'grpo', signal });
  const steps: [number, StepAudit][] = [];
  const audit = async (task: AuditTask): Promise<AuditedStep[]> => {
    // which estimators give what no formula explains is another question, and takes the whole catalogue
    const found = await auditTask(store, task, [findEstimator('grpo')]);
    for (const [i, { audit }] of found.entries()) if (audit) steps.push([stepOf(task.sources[i]), audit]);
    return found;
  };
  await auditRun({ pool: db.pool, audit }, id);
  const { rows } = await db.pool.query('select result from audit where id = $1', [id]);
  return { steps, sentence: rows[0].result.sentence };
}

const stepOf = (source: AuditTask['sources'][number]) =>
  source.kind === 'batch' ? source.trajectories.trainingStep[0] : source.trainingStep;

/** What the audit says first, and all that it thinks possible. */
function answers({ verdict, turnPattern, mask, explanation, equallyGood }: StepAudit) {
  const nameOf = (found: typeof explanation) =>
    !found ? '' : found.transform === 'identity' ? found.formula : found.formula === 'grpo' ? found.transform : '';
  const masked = mask && mask.maskVerdict !== 'mask-ok' ? mask.maskVerdict : null;
  const first = masked ?? (verdict === 'other-formula' ? nameOf(explanation) : verdict === 'zeroed-turns' ? turnPattern! : verdict); // prettier-ignore
  return { first, possible: [first, ...(explanation ? [nameOf(explanation)] : []), ...equallyGood.map(nameOf)] };
}

/** It takes a group of one that succeeds. */
const SHOWN_AT_LEAST: Partial<Record<FaultId, number>> = { 'grpo-zero-singleton': 10 };

/**
 * The rates of methods/diagnostics.md for binary rewards: the right answer first in 96 % or more of the steps, in 90 % where
 * rows were excluded, and the truth among the equally good ones everywhere.
 */
const rateOf = (fault: FaultId) => ({ first: fault.startsWith('excluded') ? 0.9 : 0.96, possible: 1 });

describe(`over ${STEPS} training steps of the example trainer`, { timeout: 120_000 }, () => {
  /** The example trainer's rollouts, each turn with what every fault would have logged of it. */
  beforeAll(async () => {
    db = await testDatabase();
    folder = await mkdtemp(join(tmpdir(), 'recredit-planted-'));
    const files = await openSegmentStore(pathToFileURL(folder).href);
    const read = new Map<string, Promise<Buffer>>();
    // audits one after the other read the same files
    store = { ...files, get: (key) => read.get(key) ?? read.set(key, files.get(key) as Promise<Buffer>).get(key)! };
    run = await aRun(db.ownerPool, { project: await aProject(db.ownerPool) });
    const log = new EventLog(db.pool, { notify: false });
    let records: TrajectoryRecord[] = [];
    const steps: TrajectoryRecord[][] = [];
    const port: RunPort = {
      trajectory: ({ id = '', group, trainingStep }) => {
        const turns: Turn[] = [];
        return {
          id,
          turn: (turn) => turns.push(turn),
          end: (end) => records.push({ id, group, trainingStep, ...end, turns }),
        };
      },
      checkpoint: () => {},
      trainingStep: () => {
        steps.push(records);
        records = [];
      },
    };
    await train({ run: port, ...TRAINED });
    const correct = creditBy('grpo');
    for (const [sequence, rollouts] of steps.entries()) {
      const events = withFaults(rollouts, correct).map((record) => ({
        type: 'trajectory.recorded',
        at: '2026-11-21T12:00:00Z',
        ...record,
      }));
      const ndjson = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      await log.append(
        run,
        await sealBatch({ producerId: 'p', epoch: 0, sequence, ndjson, eventCount: events.length }),
      );
    }
    await log.close();
    await new Projector({ pool: db.pool, store: files }).projectRun(run);
  }, 240_000);

  afterAll(async () => {
    await db?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(FAULT_IDS)('names %s wherever it shows', async (fault) => {
    const { steps } = await audited(fault);
    const shown = steps.filter(([step]) => visible.get(fault)!.has(step)).map(([, audit]) => answers(audit));
    const first = shown.filter((answer) => answer.first === fault).length / shown.length;
    const possible = shown.filter((answer) => answer.possible.includes(fault)).length / shown.length;
    expect(shown.length).toBeGreaterThan(SHOWN_AT_LEAST[fault] ?? 100);
    expect(possible).toBeGreaterThanOrEqual(rateOf(fault).possible);
    expect(first).toBeGreaterThanOrEqual(rateOf(fault).first);
  });

  it.each(Object.keys(SOUND))('leaves a correct trainer in peace that logs %s', async (kind) => {
    const { steps, sentence } = await audited(`right.${kind}`);
    expect(steps).toHaveLength(STEPS);
    expect(steps.filter(([, { verdict }]) => verdict !== 'match').map(([step]) => step)).toEqual([]);
    expect(sentence).toBe(`the logged advantages are those of grpo on all ${STEPS} audited training steps`);
  });
});

describe('a trainer with a fault in it', () => {
  let api: TestApi;
  let key: string;
  let url: string;
  let spool: string;

  beforeAll(async () => {
    api = await testApi();
    url = await api.listen();
    spool = await mkdtemp(join(tmpdir(), 'recredit-planted-'));
    key = await api.key(await aProject(api.db.ownerPool, 'p'), 'ingest', 'read', 'analyze');
  });
  afterAll(async () => {
    await api?.close();
    await rm(spool, { recursive: true, force: true });
  });

  it.each([
    [null, 'the logged advantages are those of grpo on all 8 audited training steps'],
    ['no-std', 'not those of grpo but of no-std'],
    ['zeroed-rows', 'those of grpo, zeroed-rows'],
    ['mask-ignored', 'the token mask is wrong: mask-ignored'],
  ] as const)('learns with %s, logs through the SDK, and is found out', { timeout: 120_000 }, async (plant, says) => {
    const name = plant ?? 'right';
    const logged = await startRun({ project: 'p', name, url, apiKey: key, spool });
    await train({ run: logged, ...TRAINED, steps: 8, groupSize: 8, learningRate: 0.06, plant });
    expect(await logged.end()).toMatchObject({ dropped: 0, refused: 0, unsent: 0 });
    await api.project((await api.ask(key, `{ run(id: "${name}") { id } }`)).data.run.id);
    const { data } = await api.ask(key, `mutation { startAudit(input: { run: "${name}", estimator: "grpo" }) { id } }`);
    const { id } = data.startAudit;
    await auditRun({ pool: api.db.pool, audit: (task: AuditTask) => auditTask(api.store, task) }, id);
    const { audit } = (await api.ask(key, `{ audit(id: "${id}") { state result } }`)).data;
    expect(audit.state).toBe('COMPLETED');
    expect(audit.result.sentence).toContain(says);
  });
});
