/** Every code a caller may meet, with the HTTP status that goes with it. Codes are for ever; messages may improve. */
export const ERROR_STATUS = {
  // what the caller sent
  'request.invalid': 400,
  'query.invalid': 400,
  'query.too-costly': 400,
  'params.invalid': 400,
  'config.invalid': 400,
  'file.invalid': 400,
  'usage.wrong': 400,
  'backup.damaged': 400,
  'estimator.invalid': 400,
  // who the caller is
  'key.missing': 401,
  'key.invalid': 401,
  'role.missing': 403,
  // what the caller named
  'project.unknown': 404,
  'run.unknown': 404,
  'trajectory.unknown': 404,
  'analysis.unknown': 404,
  'webhook.unknown': 404,
  'estimator.unknown': 404,
  'key.unknown': 404,
  'format.unknown': 404,
  // what the log refuses
  'batch.conflicting': 409,
  'sequence.unexpected': 409,
  'producer.fenced': 409,
  'run.conflicting': 409,
  'run.ended': 409,
  'run.erased': 409,
  'analysis.ended': 409,
  'backup.refused': 409,
  'batch.too-large': 413,
  'encoding.unknown': 415,
  'events.invalid': 422,
  'capacity.exceeded': 429,
  'rate.exceeded': 429,
  // what we found on our side
  'chain.broken': 500,
  'segment.damaged': 500,
  'database.unavailable': 503,
  'segments.unavailable': 503,
  'platform.unready': 503,
  'platform.stopping': 503,
  'device.unavailable': 503,
  'internal.error': 500,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/**
 * The one error class. The message says what was wanted, what was found and, when short, what there is;
 * `details` carries the same facts for programs.
 */
export class RecreditError extends Error {
  override readonly name = 'RecreditError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
