import canonicalize from 'canonicalize';

/** One spelling per value (RFC 8785: sorted keys, shortest numbers), so that equal values have equal hashes. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('canonicalJson: this value has no JSON form');
  return text;
}
