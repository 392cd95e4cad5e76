import type { AnyEstimator } from '#lib/credit';
import { RecreditError } from '#lib/kernel';
import { estimatorOf, type Description } from './description.js';

/** The source of a module, and what it is known by. */
export interface OwnModule {
  /** absolute path */
  readonly file: string;
  /** the first 12 hex digits of the sha256 of the file: what a result was made of, and what stands where others have a version */
  readonly hash: string;
  readonly source: string;
}

/**
 * A user's own estimator: an ES module of the folder RECREDIT_ESTIMATORS, and what it says of itself. Plain data, which can
 * be sent to processes and threads: what was read at start is what runs, whatever becomes of the file.
 */
export interface OwnEstimator extends OwnModule {
  readonly description: Description;
}

/** A member of the catalogue. Its code runs in a thread of its own, so it cannot be called here. */
export function listedEstimator(own: OwnEstimator): AnyEstimator {
  const { id } = own.description;
  return estimatorOf(own, own.description, () => {
    throw new RecreditError('internal.error', `${id} is a module of ${own.file}: it runs in a thread of its own`);
  });
}
