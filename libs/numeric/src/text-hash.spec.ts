import { expect, it } from 'vitest';
import { textHashes } from './text-hash.js';

const textHash = (text: string) => new BigUint64Array(textHashes([text]).buffer)[0];

// Numbers of Python's mmh3 5.3.1: mmh3.hash64(text.encode('utf-16-le', 'surrogatepass'), x64arch=False, signed=False)[0]
it.each([
  ['', 0n],
  ['a', 14767109531011625366n],
  ['hello', 7784501953195559305n],
  ['go north', 6694818178563988748n],
  ['The quick brown fox jumps over the lazy dog', 1122793554930742918n],
  ['ä😀\u0000', 11220865765535137557n],
])('agrees with mmh3 on %j', (text, hash) => expect(textHash(text)).toBe(hash));

it('tells texts apart that differ in one lone surrogate, in length or in a trailing zero', () => {
  const texts = ['\ud800', '\ud801', '\ufffd', '', '\u0000', '\u0000\u0000', 'x'.repeat(100_000), 'x'.repeat(100_001)];
  expect(new Set(texts.map(textHash)).size).toBe(texts.length);
});
