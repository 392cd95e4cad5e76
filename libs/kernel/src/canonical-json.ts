/**
 * One spelling per JSON value, so that equal values have equal hashes: keys sorted by UTF-16 code units, no spaces,
 * numbers as JavaScript writes them (RFC 8785). A lone surrogate, which RFC 8785 refuses, is written as its escape:
 * trainers cut texts in the middle of an emoji, and what the log has taken must stay readable.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`);
    return `{${fields.join(',')}}`;
  }
  const text = JSON.stringify(value);
  if (text === undefined || (typeof value === 'number' && !Number.isFinite(value))) {
    throw new TypeError(`canonicalJson: ${String(value)} has no JSON form`);
  }
  return text;
}
