import { RecreditError } from '#lib/kernel';

/** What is wrong with a module, in words. Its file is added where the answer of its thread arrives. */
export function invalid(problem: string): RecreditError {
  return new RecreditError('estimator.invalid', problem);
}
