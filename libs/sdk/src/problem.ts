/** Why something was not done: the platform's answer, or what stood in for one. */
export interface Problem {
  /** HTTP status; null: no answer came */
  readonly status: number | null;
  /** the platform's code, such as `producer.fenced`, or `no.answer` */
  readonly code: string;
  readonly detail: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** What became of a request. */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** no answer, or one that time may change: the same request again */
  | { readonly kind: 'again'; readonly problem: Problem; readonly afterMs: number | null }
  /** the platform will not take this content, whatever time passes */
  | { readonly kind: 'refused'; readonly problem: Problem }
  /** the log has something else under this sequence, or somebody else writes */
  | { readonly kind: 'conflict'; readonly problem: Problem }
  /** not before a person does something: a key, a role, an address */
  | { readonly kind: 'blocked'; readonly problem: Problem };

const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429]);
const ABOUT_CONTENT: ReadonlySet<number> = new Set([413, 422]);

/** Sorts a refusal by what helps against it. */
export function outcomeOf(status: number, body: string, retryAfter: string | null, now: number): Outcome<never> {
  const problem = problemOf(status, body);
  if (status >= 500 || TRANSIENT.has(status)) return { kind: 'again', problem, afterMs: delayOf(retryAfter, now) };
  if (ABOUT_CONTENT.has(status)) return { kind: 'refused', problem };
  if (status === 409) return { kind: 'conflict', problem };
  return { kind: 'blocked', problem };
}

/** No answer, or half of one: whether the platform did it is unknown, and asking again is safe. */
export function noAnswer(error: unknown): Outcome<never> {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: null };
  const detail = cause instanceof Error && cause.message ? `${message}: ${cause.message}` : message;
  return { kind: 'again', problem: { status: null, code: 'no.answer', detail, details: {} }, afterMs: null };
}

function problemOf(status: number, body: string): Problem {
  try {
    const { type: _type, title, code, detail, ...details } = JSON.parse(body) as Record<string, unknown>;
    if (typeof code === 'string') {
      const said = [detail, title, code].find((text) => typeof text === 'string') ?? code;
      return { status, code, detail: said, details };
    }
  } catch {
    // A proxy answered, in its own words.
  }
  return { status, code: `http.${status}`, detail: body.slice(0, 200) || `status ${status}`, details: {} };
}

/** Retry-After: seconds, or a date. */
function delayOf(retryAfter: string | null, now: number): number | null {
  if (retryAfter === null) return null;
  const seconds = Number(retryAfter);
  const delay = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(retryAfter) - now;
  return Number.isNaN(delay) ? null : Math.max(0, delay);
}
