import type { AnyEstimator } from '#lib/credit';
import * as numeric from '#lib/numeric';
import { creditOfAnswer } from './credit-of-answer.js';
import { describedExport, estimatorOf, type Description } from './description.js';
import { importModule } from './import-module.js';
import type { OwnModule } from './own-estimator.js';

/**
 * Imports a module, in this thread, and gives what it says of itself and the estimator that runs it. Its `estimate` gets
 * the functions of `#lib/numeric` as fourth argument.
 *
 * @throws what is wrong with it; see `problemIn`
 */
export async function loadModule(module: OwnModule): Promise<{ description: Description; estimator: AnyEstimator }> {
  const { description, estimate: own } = describedExport(await importModule(module));
  const call = own as (...args: unknown[]) => unknown;
  const estimator = estimatorOf(module, description, (trajectories, columns, params) =>
    creditOfAnswer(call(trajectories, columns, params, { numeric })),
  );
  return { description, estimator };
}
