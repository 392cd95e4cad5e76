import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ESTIMATORS } from './estimators/index.js';
import type { VectorCase } from './vector-records.js';
import { checkVectors, differences } from './vectors.js';

const fileOf = (id: string) => `test/golden/${id}.json`;

/** What is reconstructed or our own may have no numbers from elsewhere; catalogue.spec.ts asks them of every other one. */
const withGoldenFile = ESTIMATORS.filter(({ id }) => existsSync(fileOf(id)));

describe.each(withGoldenFile)('$id agrees with its golden vectors', (estimator) => {
  const { cases } = JSON.parse(readFileSync(fileOf(estimator.id), 'utf8')) as { cases: VectorCase[] };
  it.each(cases)('$name', (vector) => expect(differences(estimator, vector)).toEqual([]));
});

it('text similarity agrees with its golden vectors', () => {
  const file = checkVectors(JSON.parse(readFileSync('test/golden/difflib-ratio.json', 'utf8')));
  expect(file.cases.map(({ differences }) => differences)).toEqual([[]]);
});
