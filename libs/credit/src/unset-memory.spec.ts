import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { saidOverPoison } from '../../../test/support/poisoned-memory.js';
import { batches } from './estimator.fixture.js';
import { ESTIMATORS } from './estimators/index.js';
import { runEstimator } from './run-estimator.js';

const PARAMS: Readonly<Record<string, object[]>> = {
  gigpo: [{}, { normalizeByStd: true, invalidActionPenalty: 0.1 }, { statsAcross: 'trajectories', singleton: 'zero' }],
};
const runs = ESTIMATORS.flatMap((estimator) => (PARAMS[estimator.id] ?? [{}]).map((params) => ({ estimator, params, name: `${estimator.id} ${JSON.stringify(params)}` }))); // prettier-ignore

describe.each(runs)('$name', ({ estimator, params }) => {
  it('reads no memory that nobody set', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const trajectories = trajectoryBatch(records);
        const [some, others] = saidOverPoison(() => runEstimator(estimator, trajectories, params));
        expect(some).toEqual(others);
      }),
      { numRuns: 10 },
    );
  });
});
