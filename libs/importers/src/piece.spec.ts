import { expect, it } from 'vitest';
import { pythonValueOf, valueOf } from './piece.js';

const piece = (text: string) => ({ number: 1, bytes: Buffer.from(text) });

it('takes the numbers of Python that JSON does not have for null, and leaves texts alone', () => {
  const text = String.raw`{"a": NaN, "b": "say \"NaN\" or \\", "c": [-Infinity, Infinity, "NaN"], "NaN": 1}`;
  expect(pythonValueOf(piece(text))).toEqual({
    value: { a: null, b: 'say "NaN" or \\', c: [null, null, 'NaN'], NaN: 1 },
  });
  expect(valueOf(piece(text))).toEqual({ why: expect.stringContaining('not JSON') });
});

it('says of what is no JSON either way why it is none', () => {
  for (const text of ['{"a": NaN', 'NaNa', '{"a": "NaN', '[NaN, oops]']) {
    expect(pythonValueOf(piece(text))).toEqual(valueOf(piece(text)));
  }
});
