import { expect, it } from 'vitest';
import { countedReads } from '../../../test/support/counted-reads.js';
import { forgetSegments } from '../../../test/support/forget-segments.js';
import { recordedRun } from '../../../test/support/recorded-run.js';
import { auditRun, failAudit, startAudit, type AuditRequest, type AuditResult } from './audit-run.js';
import { auditTask, type AuditTask } from './audit-task.js';

const AT = '2026-11-21T12:00:00Z';

const here = recordedRun();
const { send } = here;

/** GRPO of the rewards 1, 0, 0.25 by hand: mean 5/12, sample std 0.52042. */
const REWARDS = [1, 0, 0.25];
const ADVANTAGES = [1.120898, -0.800641, -0.320256];

/** A training step of one group; what is logged of each trajectory comes as an annotation. */
const stepOf = (trainingStep: number, logged: readonly number[]) =>
  REWARDS.flatMap((outcomeReward, i) => [
    {
      type: 'trajectory.recorded',
      at: AT,
      id: `t${trainingStep}-${i}`,
      group: 'g',
      trainingStep,
      outcomeReward,
      turns: [{ action: 'a' }, { action: 'b' }],
    },
    {
      type: 'annotation.recorded',
      at: AT,
      trajectory: `t${trainingStep}-${i}`,
      annotator: 'trainer',
      turns: [0, 1].map((turn) => ({ turn, signals: { loggedAdvantage: logged[i] } })),
    },
  ]);

async function audit(request: AuditRequest, store = here.store): Promise<AuditResult> {
  const id = await startAudit({ pool: here.db.pool, queue: async () => {} }, here.run, request);
  await auditRun({ pool: here.db.pool, audit: (task: AuditTask) => auditTask(store, task) }, id);
  const { rows } = await here.db.pool.query('select state, result from audit where id = $1', [id]);
  expect(rows[0].state).toBe('completed');
  return rows[0].result;
}

it('leaves a correct trainer in peace and names a fault with its step', async () => {
  await send([...stepOf(0, ADVANTAGES), ...stepOf(1, ADVANTAGES), ...stepOf(2, [1.120898, 0, -0.320256])]);
  const found = await audit({ estimator: 'grpo' });
  expect(found).toMatchObject({ trainingSteps: 3, audited: 3, notRecomputed: null });
  expect(found.findings.map(({ verdict, trainingSteps }) => [verdict, trainingSteps])).toEqual([
    ['match', 2],
    ['zeroed-rows', 1],
  ]);
  expect(found.changes).toEqual([{ trainingStep: 2, verdict: 'zeroed-rows', formula: 'grpo' }]);
  expect(found.findings[1].worst).toMatchObject([{ trainingStep: 2, trajectory: 't2-1', logged: 0 }]);
});

it('opens a segment once for the training steps of a stretch, and finds what the log says', async () => {
  const faulty = new Set([2, 5]);
  const logged = (step: number) => (faulty.has(step) ? [1.120898, 0, -0.320256] : ADVANTAGES);
  await send([0, 1, 2, 3, 4, 5, 6].flatMap((step) => stepOf(step, logged(step))));
  await send([{ type: 'run.ended', at: AT }]);
  const { store, read } = countedReads(here.store);
  const found = await audit({ estimator: 'grpo' }, store);
  // two readers share seven steps
  expect(Object.values(read)).toEqual([2, 2]);
  expect(found.changes.map(({ trainingStep, verdict }) => [trainingStep, verdict])).toEqual([
    [2, 'zeroed-rows'],
    [3, 'match'],
    [5, 'zeroed-rows'],
    [6, 'match'],
  ]);
  await forgetSegments(here.db.pool, here.run);
  expect(await audit({ estimator: 'grpo' }, store)).toEqual(found);
  expect(Object.values(read), 'a step that waits for its segment is read from the log').toEqual([2, 2]);
});

it('asks for nothing more once it is told to stop', async () => {
  await send([...stepOf(0, ADVANTAGES), ...stepOf(1, ADVANTAGES)]);
  const id = await startAudit({ pool: here.db.pool, queue: async () => {} }, here.run, { estimator: 'grpo' });
  const stopping = new AbortController();
  let tasks = 0;
  const stopped = (task: AuditTask) => {
    tasks++;
    stopping.abort(new Error('the process stops'));
    return auditTask(here.store, task);
  };
  const ports = { pool: here.db.pool, audit: stopped, signal: stopping.signal, concurrency: 1 };
  // steps that wait for their segment are a stretch each
  await expect(auditRun(ports, id)).rejects.toThrow('the process stops');
  expect(tasks).toBe(1);
  const { rows } = await here.db.pool.query('select state, result from audit where id = $1', [id]);
  expect(rows, 'it is begun again').toEqual([{ state: 'running', result: null }]);
});

it('looks at what was there at its position', async () => {
  await send(stepOf(0, ADVANTAGES));
  await send(stepOf(1, [0.5, 0.5, 0.5]));
  expect(await audit({ estimator: 'grpo', asOf: 6 })).toMatchObject({ trainingSteps: 1, matchShare: 1 });
  await expect(audit({ estimator: 'grpo', asOf: 13 })).rejects.toThrow(
    'asOf: a position up to 12 was wanted, found 13',
  );
});

it('says what it could not recompute, and that nothing was logged', async () => {
  await send(stepOf(0, ADVANTAGES));
  const lacking = await audit({ estimator: 'gae' });
  expect(lacking).toMatchObject({ audited: 0, matchShare: null });
  expect(lacking.notRecomputed?.text).toBe(
    'token.reward is missing: no token was logged; token.value is missing: no token was logged',
  );
  expect(lacking.sentence).toBe('nothing to audit: gae could not be recomputed where loggedAdvantage was logged');
  expect(await audit({ estimator: 'grpo', signal: 'myAdvantage' })).toMatchObject({
    trainingSteps: 1,
    audited: 0,
    sentence: "nothing to audit: no trajectory has myAdvantage, which the trainer's own advantages were looked for in",
  });
});

it.each([
  [{ estimator: 'grop' }, 'no estimator grop'],
  [{ estimator: 'grpo', params: { epsilom: 1 } }, 'epsilom'],
  [{ estimator: 'dapo-overlong' }, 'an audit is of advantages'],
])('refuses %j', async (request, why) => {
  await expect(audit(request)).rejects.toThrow(why);
});

it('keeps why it failed, and what is done stays done', async () => {
  await send(stepOf(0, ADVANTAGES));
  const id = await startAudit({ pool: here.db.pool, queue: async () => {} }, here.run, { estimator: 'grpo' });
  const breaks = async () => Promise.reject(new Error('the disk is gone'));
  await expect(auditRun({ pool: here.db.pool, audit: breaks }, id)).rejects.toThrow('the disk is gone');
  await failAudit(here.db.pool, id, 'the disk is gone');
  const { rows } = await here.db.pool.query('select state, failure from audit where id = $1', [id]);
  expect(rows).toEqual([{ state: 'failed', failure: 'the disk is gone' }]);
});
