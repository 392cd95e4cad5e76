import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { valueOf } from './piece.js';
import { splitElements, splitEntries } from './split-elements.js';
import { splitLines } from './split-lines.js';

async function* chunks(text: string, size: number) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function elements(text: string, size = 3, key: string | null = null) {
  const pieces = splitElements(chunks(text, size), key);
  const values: unknown[] = [];
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) return { values, verdict: value };
    const read = valueOf(value);
    values.push('value' in read ? read.value : read.why);
  }
}

describe('splitElements', () => {
  it('cuts any JSON array into what JSON.parse finds in it, wherever the chunks end', async () => {
    const array = fc.array(fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(array, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (values, size, pretty) => {
        const text = JSON.stringify(values, null, pretty ? 2 : 0);
        expect(await elements(text, size)).toEqual({ values: JSON.parse(text), verdict: null });
      }),
    );
  });

  it('finds the array of a document by its key, and no other', async () => {
    const document = {
      note: 'trajectories',
      other: [9],
      nested: { trajectories: [8] },
      trajectories: [1, { a: ']' }],
      more: [7],
    };
    expect(await elements(JSON.stringify(document), 5, 'trajectories')).toEqual({
      values: [1, { a: ']' }],
      verdict: null,
    });
    expect(await elements('{"a":[1]}', 4, 'trajectories')).toEqual({
      values: [],
      verdict: 'no array under trajectories',
    });
  });

  it('goes on after an element that is no JSON, and says where a file broke off', async () => {
    const { values, verdict } = await elements('[{"a":1},{"b":oops},{"c":3},{"d":');
    expect(values).toEqual([{ a: 1 }, expect.stringContaining('not JSON'), { c: 3 }]);
    expect(verdict).toBe('it ends inside element 3');
    expect((await elements('nonsense')).verdict).toBe('no JSON array');
  });
});

describe('splitEntries', () => {
  async function entries(text: string, size: number) {
    const pieces = splitEntries(chunks(text, size));
    const values: unknown[] = [];
    for (;;) {
      const { done, value } = await pieces.next();
      if (done) return { values, verdict: value };
      const read = valueOf(value);
      values.push('value' in read ? read.value : read.why);
    }
  }

  it('cuts any JSON object into its fields, wherever the chunks end', async () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(object, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (fields, size, pretty) => {
        const text = JSON.stringify(fields, null, pretty ? 2 : 0);
        const wanted = Object.entries(JSON.parse(text) as object).map(([name, value]) =>
          JSON.stringify(JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`)),
        );
        const { values, verdict } = await entries(text, size);
        expect([values.map((value) => JSON.stringify(value)), verdict]).toEqual([wanted, null]);
      }),
    );
  });

  it('says where a file broke off, and of what is no object that it is none', async () => {
    expect(await entries('{"a":{"x":1},"b":oops,"c":{', 4)).toEqual({
      values: [{ a: { x: 1 } }, expect.stringContaining('not JSON')],
      verdict: 'it ends inside entry 2',
    });
    expect((await entries('7', 1)).verdict).toBe('no JSON object');
  });
});

describe('splitLines', () => {
  it('numbers lines, wherever the chunks end, and leaves out empty ones', async () => {
    for (const size of [1, 2, 7, 100]) {
      const lines = await Array.fromAsync(splitLines(chunks('{"a":"ü\u2028"}\r\n\n  \n{"b":2}', size)));
      expect(lines.map((line) => [line.number, valueOf(line)])).toEqual([
        [1, { value: { a: 'ü\u2028' } }],
        [4, { value: { b: 2 } }],
      ]);
    }
  });
});
