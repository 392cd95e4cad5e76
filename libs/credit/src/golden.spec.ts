import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ESTIMATORS } from './estimators/index.js';
import { checkVectors, differences, type VectorCase } from './vectors.js';

describe.each(ESTIMATORS)('$id agrees with its golden vectors', (estimator) => {
  const { cases } = JSON.parse(readFileSync(`test/golden/${estimator.id}.json`, 'utf8')) as { cases: VectorCase[] };
  it.each(cases)('$name', (vector) => expect(differences(estimator, vector)).toEqual([]));
});

it('text similarity agrees with its golden vectors', () => {
  const file = checkVectors(JSON.parse(readFileSync('test/golden/difflib-ratio.json', 'utf8')));
  expect(file.cases.map(({ differences }) => differences)).toEqual([[]]);
});
