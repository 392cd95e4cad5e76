import { RecreditError } from '#lib/kernel';

/** A backup that is not as it was written. */
export const damaged = (message: string) => new RecreditError('backup.damaged', message);
