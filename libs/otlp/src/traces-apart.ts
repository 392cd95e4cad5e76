import type { Span } from './span.js';

/**
 * Which spans were refused because their root was not there. A root that comes later without them would be recorded
 * with turns missing and nobody would see it, so it is refused; with them it is whole. Best effort: it is forgotten
 * when the process ends, and the oldest traces go first.
 */
export class TracesApart {
  readonly #refused = new Map<string, Set<string>>();
  #size = 0;

  constructor(private readonly maximum = 100_000) {}

  /** @param owner whose they are: nobody's trace is spoiled by another's */
  remember(owner: string, spans: readonly Span[]): void {
    for (const { traceId, spanId } of spans) {
      const key = `${owner} ${traceId}`;
      const known = this.#refused.get(key) ?? new Set();
      this.#refused.set(key, known);
      if (!known.has(spanId)) this.#size++;
      known.add(spanId);
    }
    for (const [key, known] of this.#refused) {
      if (this.#size <= this.maximum) break;
      this.#refused.delete(key);
      this.#size -= known.size;
    }
  }

  /** Whether spans of the same trace were refused before that are not among these. */
  lacksSome(owner: string, spans: readonly Span[]): boolean {
    const known = this.#refused.get(`${owner} ${spans[0].traceId}`);
    if (!known) return false;
    const here = new Set(spans.map(({ spanId }) => spanId));
    return [...known].some((spanId) => !here.has(spanId));
  }
}
