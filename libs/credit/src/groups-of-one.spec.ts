import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf } from './estimator.fixture.js';
import type { AnyEstimator } from './estimator.js';
import { ESTIMATORS } from './estimators/index.js';
import { paramsSchema } from './run-estimator.js';

/** Of these a part of the credit is compared with nothing, so that it stays where there is no sibling. */
const WITH_A_PART_OF_ITS_OWN: Readonly<Record<string, string>> = {
  dcpo: 'adds the ratio of right outcomes under the tempered policy',
  hbpo: 'compares each budget with the reward that it promises',
  'tp-grpo': 'pays thoughts by the share of successes',
};

const groupRelative = ESTIMATORS.filter((estimator) => estimator.groupRelative);

/** `singleton: 'zero'` where it is a choice; nothing where the method gives 0 anyway. */
function withoutSiblings(estimator: AnyEstimator): object {
  const { properties } = paramsSchema(estimator) as { properties: Record<string, { enum?: readonly string[] }> };
  return properties.singleton?.enum?.includes('zero') ? { singleton: 'zero' } : {};
}

/** Groups of one trajectory of one turn: nothing has anything to be compared with. */
const alone = batches.map((records) =>
  records
    .filter(({ turns }) => turns.length > 0)
    .map(({ parent: _parent, ...record }, i) => ({ ...record, group: `g${i}`, turns: record.turns.slice(0, 1) })),
);

describe.each(groupRelative)('$id', (estimator) => {
  it('gives 0 to a group of one, by itself or where that is asked for', () => {
    const params = withoutSiblings(estimator);
    const isOwn = estimator.id in WITH_A_PART_OF_ITS_OWN;
    let credited = 0;
    fc.assert(
      fc.property(alone, (records) => {
        const { values } = creditOf(estimator, records, params);
        credited += values.filter((value) => value !== 0 && !Number.isNaN(value)).length;
        return isOwn || credited === 0;
      }),
      { numRuns: 20 },
    );
    if (isOwn) expect(credited).toBeGreaterThan(0);
  });
});

it('looks at most of the catalogue', () => expect(groupRelative.length).toBeGreaterThan(50));
