import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import type { TrajectoryRecord } from '#lib/protocol';
import { tableFromIPC } from 'apache-arrow';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checksum } from './checksum.js';
import { encodeSegment } from './encode-segment.js';
import { footerStart } from './file-end.js';
import { openSegment } from './open-segment.js';
import { readHead } from './read-head.js';
import { stepBatch } from './step-batch.js';

const HARD_TEXTS = [
  '',
  '\u0000',
  '\ufeffstarts with a mark',
  'a\ud800',
  'a\udfff\ud800b',
  '\ufffd',
  '😀é漢',
  'x'.repeat(5000),
];

const text = fc.oneof(fc.constantFrom(...HARD_TEXTS), fc.string({ unit: 'binary' }), fc.constantFrom('north', 'south'));
const number = fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, -0, 1), fc.constant(null));
/** As it comes from the log. A column that is not all numbers is written as JSON, which has no -0 and no infinity. */
const plainNumber = number.map((value) => JSON.parse(JSON.stringify(value)) as number | null);
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as never);
const name = fc.oneof(
  fc.constantFrom('a', 'state', 'state_', 'turns', 'id', 'token', 'x\ud800', 'x\udfff', '\u0000', 'é'),
);
const signals = fc.dictionary(name, fc.oneof(plainNumber, text, json), { maxKeys: 3 });
const turn = fc.record(
  {
    state: text,
    action: text,
    reward: number,
    signals,
    tokens: fc
      .array(fc.tuple(number, text), { maxLength: 4 })
      .chain((tokens) =>
        fc.constantFrom(
          { logprob: tokens.map(([value]) => value) },
          { word: tokens.map(([, word]) => word) },
          { logprob: tokens.map(([value]) => value), word: tokens.map(([, word]) => word) },
        ),
      ),
  },
  { requiredKeys: [] },
);
const record = fc.record(
  {
    group: fc.constantFrom('g', 'h'),
    trainingStep: fc.integer({ min: 0, max: 2 }),
    parent: fc.record({ trajectory: fc.constantFrom('t0', 't1', 'elsewhere'), turn: fc.integer({ min: -1, max: 3 }) }),
    outcomeReward: number,
    success: fc.boolean(),
    signals,
    turns: fc.array(turn, { maxLength: 4 }),
  },
  { requiredKeys: ['group', 'trainingStep', 'turns'] },
);
const records = fc
  .array(record, { maxLength: 6 })
  .map((rows) =>
    rows
      .toSorted((a, b) => a.trainingStep - b.trainingStep)
      .map((row, i) => ({ ...(row as object), id: `t${i}` }) as TrajectoryRecord),
  );

const ends = (trajectories: TrajectoryBatch) => Float64Array.from(trajectories.ids, (_, i) => 10 * i + 2 ** 40);
const encoded = (trajectories: TrajectoryBatch) => encodeSegment(trajectories, ends(trajectories));
const reopened = (trajectories: TrajectoryBatch) => {
  const { numeric, text } = encoded(trajectories);
  return openSegment(numeric, text);
};
const numbersOnly = (trajectories: TrajectoryBatch): TrajectoryBatch => ({
  ...trajectories,
  columns: new Map([...trajectories.columns].filter(([, { kind }]) => kind === 'number')),
  texts: null,
});
const sample = () =>
  trajectoryBatch([
    {
      id: 'a',
      group: 'g',
      trainingStep: 3,
      outcomeReward: 1,
      success: true,
      turns: [
        { state: 's0', action: 'go', reward: 0.5, tokens: { logprob: [-1, -2] } },
        { state: 's1', action: 'go', signals: { valueEstimate: 0.25, note: 'odd' } },
      ],
    },
    { id: 'b', group: 'h', trainingStep: 3, parent: { trajectory: 'a', turn: 0 }, turns: [] },
    { id: 'c', group: 'g', trainingStep: 4, outcomeReward: 0, turns: [{ state: 's0', action: 'stop', reward: 2 }] },
  ]);

describe('a segment', () => {
  it('gives back what was put in, whatever it was', () => {
    fc.assert(
      fc.property(records, (rows) => {
        const trajectories = trajectoryBatch(rows);
        const segment = reopened(trajectories);
        expect(segment.trajectories).toEqual(trajectories);
        expect(segment.endPosition).toEqual(ends(trajectories));
        expect(openSegment(encoded(trajectories).numeric).trajectories).toEqual(numbersOnly(trajectories));
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ['no trajectory', []],
    ['no turn', [{ id: 'a', group: 'g', trainingStep: 0, turns: [] }]],
    ['a turn that says nothing', [{ id: 'a', group: 'g', trainingStep: 0, turns: [{}] }]],
  ])('holds %s', (_, rows: TrajectoryRecord[]) => {
    const trajectories = trajectoryBatch(rows);
    expect(reopened(trajectories).trajectories).toEqual(trajectories);
  });

  it('gives the same bytes again, also for the same trajectories in other columns order', () => {
    const trajectories = sample();
    const shuffled = { ...trajectories, columns: new Map([...trajectories.columns].toReversed()) };
    expect(encoded(shuffled)).toEqual(encoded(trajectories));
  });

  it('says where its training steps lie', () => {
    expect(reopened(sample()).steps).toEqual([
      { trainingStep: 3, firstRow: 0, rowCount: 2 },
      { trainingStep: 4, firstRow: 2, rowCount: 1 },
    ]);
  });

  it('views the bytes of its file, and copies only where they are not aligned', () => {
    const { numeric } = encoded(sample());
    const { trajectories, endPosition } = openSegment(numeric);
    const arrays = [
      endPosition,
      ...(['groupOf', 'trainingStep', 'turnOffsets', 'tokenOffsets', 'stateKey', 'actionKey'] as const).map(
        (name) => trajectories[name],
      ),
      ...[...trajectories.columns.values()].map(({ values }) => values as Float64Array),
    ];
    expect(arrays).toHaveLength(12);
    for (const array of arrays) expect(array.buffer).toBe(numeric.buffer);

    const shifted = new Uint8Array(numeric.length + 1).subarray(1);
    shifted.set(numeric);
    expect(openSegment(shifted).trajectories).toEqual(trajectories);
  });

  it('is null to other readers where nothing was said, and NaN to us', () => {
    const { numeric } = encoded(sample());
    const turns = [...tableFromIPC(numeric).getChild('turns')!.get(0)] as { reward: number | null }[];
    expect(turns.map(({ reward }) => reward)).toEqual([0.5, null]);
    expect(openSegment(numeric).trajectories.columns.get('turn.reward')?.values).toEqual(Float64Array.of(0.5, NaN, 2));
  });

  it('has no key below zero in its dictionaries, which Polars refuses even under a null', () => {
    const { numeric } = encoded(
      trajectoryBatch([{ id: 'a', group: 'g', trainingStep: 0, turns: [{ state: 'x' }, {}] }]),
    );
    const turns = tableFromIPC(numeric).getChild('turns')!.data[0].children[0];
    expect(turns.children[0].values).toEqual(Int32Array.of(0, 0));
    expect(openSegment(numeric).trajectories.stateKey).toEqual(Int32Array.of(0, -1));
  });

  it('keeps the parent that lies elsewhere', () => {
    const trajectories = trajectoryBatch([
      { id: 'a', group: 'g', trainingStep: 0, parent: { trajectory: 'far', turn: 2 }, turns: [] },
    ]);
    const { numeric } = encodeSegment(trajectories, Float64Array.of(1), ['far']);
    expect(openSegment(numeric)).toMatchObject({ parents: ['far'], trajectories: { parentOf: Int32Array.of(-1) } });
  });

  it('refuses rows that are not in order', () => {
    const trajectories = sample();
    expect(() => encodeSegment(trajectories, Float64Array.of(2, 1, 3))).toThrow('row 1 should come after row 0');
  });

  it('holds 100,000 trajectories', () => {
    const trajectories = trajectoryBatch(
      Array.from({ length: 100_000 }, (_, i) => ({
        id: `t${i}`,
        group: `g${i >> 3}`,
        trainingStep: i >> 10,
        outcomeReward: i % 3,
        turns: [{ state: `s${i % 1000}`, action: `a${i % 7}`, ...(i % 5 && { reward: i }) }],
      })),
    );
    const segment = reopened(trajectories);
    expect(segment.steps).toHaveLength(98);
    expect(segment.trajectories.turnOffsets).toEqual(trajectories.turnOffsets);
    expect(segment.trajectories.columns).toEqual(trajectories.columns);
    expect(segment.trajectories.ids[99_999]).toBe('t99999');
  });
});

describe('the head of a file', () => {
  const headOf = (bytes: Uint8Array) =>
    readHead({ get: async () => bytes, getPart: async (_, from, to) => bytes.slice(from, to) }, 'key');
  const withTokens = () =>
    trajectoryBatch([
      {
        id: 'a',
        group: 'g',
        trainingStep: 3,
        turns: [{ state: 's', action: 'go', tokens: { logprob: [-1, -2], word: ['a', 'b'] } }, { action: 'stop' }],
      },
    ]);

  it('is the whole but for the values of tokens, and throws where those are asked for', async () => {
    await fc.assert(
      fc.asyncProperty(records, async (rows) => {
        const trajectories = trajectoryBatch(rows);
        const { numeric, text: texts } = encoded(trajectories);
        const segment = openSegment(await headOf(numeric), await headOf(texts));
        const { columns, ...rest } = segment.trajectories;
        const { columns: all, ...expected } = trajectories;
        expect(rest).toEqual(expected);
        expect([...columns.keys()].toSorted()).toEqual([...all.keys()].toSorted());
        for (const [path, column] of columns) {
          expect(column.kind).toBe(all.get(path)!.kind);
          if (!path.startsWith('token.')) expect(column.values).toEqual(all.get(path)!.values);
          else expect(() => column.values).toThrow('was not read');
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is cut into training steps without its tokens being asked for', async () => {
    const { numeric } = encoded(withTokens());
    const step = stepBatch([openSegment(await headOf(numeric))], { trainingStep: 3, asOf: Infinity });
    expect([...step.tokenOffsets]).toEqual([0, 2, 2]);
    expect(() => step.columns.get('token.logprob')!.values).toThrow('was not read');
  });

  it('is all of a file without tokens, and of one as it was written before there were heads', async () => {
    const { numeric } = encoded(trajectoryBatch([{ id: 'a', group: 'g', trainingStep: 0, turns: [{ state: 'x' }] }]));
    expect(await headOf(numeric)).toBe(numeric);
    const old = writtenBefore(encoded(withTokens()).numeric);
    expect(await headOf(old)).toBe(old);
    expect(openSegment(old).trajectories).toEqual(numbersOnly(withTokens()));
  });

  it('is refused, whichever byte is wrong and wherever it is cut', async () => {
    const head = await headOf(encoded(withTokens()).numeric);
    expect(openSegment(head).trajectories.ids).toEqual(['a']);
    const damaged = expect.objectContaining({ code: 'segment.damaged' });
    const footer = footerStart(head);
    for (let at = 0; at < head.length; at++) {
      expect(() => openSegment(head.slice(0, at))).toThrow(damaged);
      // the checksum of the whole, of which nothing is said here
      if (at >= footer - 8 && at < footer) continue;
      expect(() => openSegment(head.with(at, head[at] ^ (1 + (at % 255))))).toThrow(damaged);
    }
  });

  it('reads no more than there is', async () => {
    const tokens = { logprob: Array.from({ length: 20_000 }, (_, i) => -i) };
    const { numeric } = encoded(trajectoryBatch([{ id: 'a', group: 'g', trainingStep: 0, turns: [{ tokens }] }]));
    let read = 0;
    const counted = { get: async () => numeric, getPart: async (_: string, from: number, to?: number) => (read += numeric.slice(from, to).length, numeric.slice(from, to)) }; // prettier-ignore
    const { trajectories } = openSegment(await readHead(counted, 'key'));
    expect([...trajectories.tokenOffsets]).toEqual([0, 20_000]);
    expect(numeric.length).toBeGreaterThan(80_000);
    expect(read).toBeLessThan(24_000);
  });
});

/** Without the entry of the head, 24 bytes before the checksum. */
function writtenBefore(file: Uint8Array): Uint8Array {
  const footer = footerStart(file);
  const [body, end] = [file.subarray(0, footer - 32), file.subarray(footer)];
  const sum = new BigUint64Array([checksum([body, end])]);
  return Buffer.concat([body, new Uint8Array(sum.buffer), end]);
}

describe('a damaged file', () => {
  const { numeric, text: textFile } = encoded(sample());
  const damaged = expect.objectContaining({ code: 'segment.damaged' });

  it.each([
    ['no bytes', new Uint8Array()],
    ['something else', new TextEncoder().encode('{"not": "arrow"}')],
    ['a file cut short', numeric.slice(0, -1)],
    ['a file without its head', numeric.slice(8)],
    ['the sibling file', textFile],
  ])('is refused: %s', (_, bytes) => expect(() => openSegment(bytes)).toThrow(damaged));

  it('is refused where the text file is of another segment', () => {
    const other = trajectoryBatch([{ id: 'a', group: 'g', trainingStep: 0, turns: [{ state: 'x' }] }]);
    expect(() => openSegment(numeric, encoded(other).text)).toThrow(damaged);
  });

  it('is refused, whichever byte is wrong', () => {
    const flip = fc.tuple(fc.nat(numeric.length - 1), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(fc.array(flip, { minLength: 1, maxLength: 4 }), (flips) => {
        const copy = numeric.slice();
        for (const [at, xor] of flips) copy[at] ^= xor;
        fc.pre(copy.some((byte, i) => byte !== numeric[i]));
        expect(() => openSegment(copy)).toThrow(damaged);
      }),
      { numRuns: 300 },
    );
  });

  it('is refused where it is cut, wherever that is', () => {
    for (let length = 0; length < numeric.length; length++) {
      expect(() => openSegment(numeric.slice(0, length))).toThrow(damaged);
    }
  });
});
