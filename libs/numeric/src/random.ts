/** A stream of pseudo-random numbers. The same seed gives the same stream on every machine. */
export interface Random {
  /** uniform in [0, 1), 32 bits of it random */
  next(): number;
  /** uniform in 0 .. bound - 1 */
  integer(bound: number): number;
  /** standard normal */
  normal(): number;
}

/**
 * sfc32 (Chris Doty-Humphrey's "small fast counter", 128 bits of state, passes PractRand), seeded from a text.
 * Not for secrets.
 */
export function seededRandom(seed: string | number): Random {
  const text = String(seed);
  let [a, b, c] = [hash32(text, 1), hash32(text, 2), hash32(text, 3)];
  let counter = 1;
  const bits = () => {
    const out = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + out) | 0;
    return out >>> 0;
  };
  // The first outputs still show the seed.
  for (let i = 0; i < 15; i++) bits();

  const next = () => bits() / 2 ** 32;
  return {
    next,
    integer: (bound) => Math.floor(next() * bound),
    // Box and Muller; 1 - next() is never 0.
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  };
}

/** A 32-bit hash of a text's UTF-16 units (Murmur3 over one unit at a time). Not for secrets. */
export function hash32(text: string, seed = 0): number {
  return finished(mixedIn(seed, text), text.length);
}

/** The state of the hash after some more units. */
function mixedIn(state: number, text: string): number {
  let h = state | 0;
  for (let i = 0; i < text.length; i++) h = stirred(h, scrambled(text.charCodeAt(i)));
  return h;
}

function scrambled(unit: number): number {
  const k = Math.imul(unit, 0xcc9e2d51);
  return Math.imul((k << 15) | (k >>> 17), 0x1b873593);
}

function stirred(h: number, k: number): number {
  const mixed = h ^ k;
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function finished(state: number, length: number): number {
  let h = state ^ length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A 53-bit hash of a text, an exact JavaScript number. */
export function hash53(text: string, seed = 0): number {
  let high = seed | 0;
  let low = ~seed;
  for (let i = 0; i < text.length; i++) {
    const k = scrambled(text.charCodeAt(i));
    high = stirred(high, k);
    low = stirred(low, k);
  }
  return joined(finished(high, text.length), finished(low, text.length));
}

const joined = (high: number, low: number) => (high & 0x1fffff) * 2 ** 32 + low;

/** A text's place in [0, 1): `hashUnit(id) < rate` chooses the same share of the same ids, whoever asks. */
export function hashUnit(text: string, seed = 0): number {
  return hash53(text, seed) / 2 ** 53;
}

/**
 * The places of many texts that begin alike: `hashUnit(prefix + texts[i])`, without joining them and reading each once.
 *
 * @returns [texts]
 */
export function hashUnits(prefix: string, texts: readonly string[], seed = 0): Float64Array {
  const [high, low] = [mixedIn(seed, prefix), mixedIn(~seed, prefix)];
  const places = new Float64Array(texts.length);
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i];
    let a = high;
    let b = low;
    for (let at = 0; at < text.length; at++) {
      const k = scrambled(text.charCodeAt(at));
      a = stirred(a, k);
      b = stirred(b, k);
    }
    const length = prefix.length + text.length;
    places[i] = joined(finished(a, length), finished(b, length)) / 2 ** 53;
  }
  return places;
}
