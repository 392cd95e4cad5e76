import { ESTIMATORS, signalsRead } from '#lib/credit';
import { signalAt } from '#lib/protocol';
import { expect, it } from 'vitest';

it.each(ESTIMATORS)('the catalogue of signals knows all that $id reads', (estimator) => {
  const unknown = [...signalsRead(estimator)].filter((path) => !signalAt(path));
  expect(unknown).toEqual([]);
});
