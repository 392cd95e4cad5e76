/** A text to compare. What a comparison looks up is made when it is asked for, and kept. */
export interface IndexedText {
  /** [length] code points */
  readonly codes: Int32Array;
  /** none of its characters is popular */
  readonly isWhole: boolean;
  readonly characters: () => CharacterIndex;
  /** [length] code points; -1: popular */
  readonly indexed: () => Int32Array;
  /** of one of the texts of a comparison only */
  readonly pairs: () => PairIndex;
}

/** The different characters of a text, in the order of their first appearance, and where each occurs. */
export interface CharacterIndex {
  /** [slots] their code points */
  readonly characters: readonly number[];
  /** [slots] how often each occurs */
  readonly counts: readonly number[];
  /** [slots + 1] into positions; a popular character has none */
  readonly offsets: readonly number[];
  /** ascending per slot */
  readonly positions: Int32Array;
  /** [length] code points; -1: popular */
  readonly indexed: Int32Array;
  /** [128] 1 + the slot of an ASCII character; 0: the text does not have it */
  readonly slotOfAscii: Int32Array;
  /** the slots of all others */
  readonly slotOfOthers: ReadonlyMap<number, number>;
}

/** Where two indexed characters stand side by side. */
export interface PairIndex {
  /** [length] code points; -1: popular */
  readonly indexed: Int32Array;
  /**
   * [places + length] by hash >>> shift, 1 + where the first of such pairs begins; behind these places by where a pair
   * begins, 1 + where the next one does whose hash ends in the same place; 0: there is none
   */
  readonly starts: Int32Array;
  readonly places: number;
  readonly shift: number;
}

const ASCII = 128;
/** From this length on difflib drops characters that make up more than about 1 % of the text from the index. */
const POPULAR_FROM = 200;
/** So many that different pairs seldom meet in one. */
const PLACES_PER_PAIR = 4;
/** Two to this power of them are enough: long texts have more in common than is kept. */
const MOST_BITS = 20;

/** Reads the characters: code points, not UTF-16 units. */
export function indexText(text: string): IndexedText {
  const read = new Int32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = codeAt(text, at);
    if (code > 0xffff) at++;
    read[length++] = code;
  }
  const codes = length < read.length ? read.slice(0, length) : read;
  let [ofCharacters, ofPairs]: [CharacterIndex | null, PairIndex | null] = [null, null];
  const characters = () => (ofCharacters ??= indexCharacters(codes));
  const isWhole = length < POPULAR_FROM;
  const indexed = () => (isWhole ? codes : characters().indexed);
  const pairs = () => (ofPairs ??= indexPairs(indexed()));
  return { codes, isWhole, characters, indexed, pairs };
}

function indexCharacters(codes: Int32Array): CharacterIndex {
  const { length } = codes;
  // one piece of memory: to ask for each array by itself takes longer than to fill it
  const room = new Int32Array(2 * length + ASCII);
  const slotOfAscii = room.subarray(0, ASCII);
  const slotOfOthers = new Map<number, number>();
  const slots = room.subarray(ASCII);
  const positions = slots.subarray(length);
  const [characters, counts]: number[][] = [[], []];
  for (let j = 0; j < length; j++) {
    const code = codes[j];
    let slot = code < ASCII ? slotOfAscii[code] - 1 : (slotOfOthers.get(code) ?? -1);
    if (slot < 0) {
      slot = counts.length;
      if (code < ASCII) slotOfAscii[code] = slot + 1;
      else slotOfOthers.set(code, slot);
      characters.push(code);
      counts.push(0);
    }
    counts[slot]++;
    slots[j] = slot;
  }

  const most = length >= POPULAR_FROM ? Math.floor(length / 100) + 1 : Infinity;
  const offsets = [0];
  for (const [slot, count] of counts.entries()) offsets.push(offsets[slot] + (count > most ? 0 : count));
  const filled = offsets.slice();
  const indexed = offsets[counts.length] === length ? codes : new Int32Array(length).fill(-1);
  for (let j = 0; j < length; j++) {
    if (counts[slots[j]] > most) continue;
    positions[filled[slots[j]]++] = j;
    indexed[j] = codes[j];
  }
  return { characters, counts, offsets, positions, indexed, slotOfAscii, slotOfOthers };
}

/**
 * What `codePointAt` says. Once V8 (13.6) has compiled that, it reads on behind the end of a text which was cut out of a
 * longer one, in the middle of a character of two units.
 */
function codeAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if ((unit & 0xfc00) !== 0xd800) return unit;
  const next = text.charCodeAt(at + 1);
  return (next & 0xfc00) === 0xdc00 ? 0x10000 + ((unit & 0x3ff) << 10) + (next & 0x3ff) : unit;
}

/** The slot of a character in a text; -1: it does not have it. */
export function slotIn({ slotOfAscii, slotOfOthers }: CharacterIndex, code: number): number {
  return code < ASCII ? slotOfAscii[code] - 1 : (slotOfOthers.get(code) ?? -1);
}

/** Fibonacci hashing: the highest bits are mixed best. */
export function pairHash(code: number, next: number): number {
  return Math.imul(code, 0x9e3779b1) + Math.imul(next, 0x85ebca77);
}

function indexPairs(indexed: Int32Array): PairIndex {
  const { length } = indexed;
  const bits = Math.min(MOST_BITS, 32 - Math.clz32(PLACES_PER_PAIR * length + 1));
  const places = 2 ** bits;
  const starts = new Int32Array(places + length);
  const shift = 32 - bits;
  // from the back, so that each place begins with its first pair
  for (let j = length - 2; j >= 0; j--) {
    if (indexed[j] < 0 || indexed[j + 1] < 0) continue;
    const place = pairHash(indexed[j], indexed[j + 1]) >>> shift;
    starts[places + j] = starts[place];
    starts[place] = j + 1;
  }
  return { indexed, starts, places, shift };
}
