import fc from 'fast-check';
import { expect, it } from 'vitest';
import { forgetSegments } from '../../../test/support/forget-segments.js';
import { recordedRun } from '../../../test/support/recorded-run.js';
import { stepRevisions } from './step-revisions.js';

const AT = '2026-11-22T12:00:00Z';
const here = recordedRun();

const step = fc.nat(3);
const trajectory = fc.record({ type: fc.constant('trajectory.recorded'), trainingStep: step });
const event = fc.oneof(
  { weight: 6, arbitrary: trajectory },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('trainingStep.recorded'), trainingStep: step }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('run.rewound'), toTrainingStep: step }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('run.ended') }) },
);

/** With what each kind of event needs beside what is drawn. */
const whole = (drawn: { readonly type: string }, i: number) => ({
  ...drawn,
  at: AT,
  ...(drawn.type === 'trajectory.recorded' && { id: `t${i}`, group: 'g', turns: [{ state: 's', action: 'a' }] }),
  ...(drawn.type === 'trainingStep.recorded' && { metrics: { loss: 1 } }),
});

it('are the same whether a trajectory lies in a segment or waits for one, as of any position', async () => {
  const revisions = (asOf: number) => stepRevisions(here.db.pool, here.run, asOf);
  const asOfEach = async (length: number) => {
    const found = [];
    for (let asOf = 0; asOf <= length; asOf++) found.push(await revisions(asOf));
    return found;
  };
  await fc.assert(
    fc
      .asyncProperty(
        fc.array(event, { minLength: 1, maxLength: 24 }),
        fc.array(trajectory, { maxLength: 4 }),
        async (drawn, waiting) => {
          const events = [...drawn, { type: 'run.ended' }, ...waiting].map(whole);
          await here.send(events);
          const { rows } = await here.db.pool.query('select from segment where run_id = $1', [here.run]);
          expect(rows.length > 0).toBe(drawn.some(({ type }) => type === 'trajectory.recorded'));
          const withSegments = await asOfEach(events.length);
          await forgetSegments(here.db.pool, here.run);
          expect(await asOfEach(events.length)).toEqual(withSegments);
        },
      )
      .beforeEach(here.newRun),
    { numRuns: 30 },
  );
});
