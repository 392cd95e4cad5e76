import { zstdCompressSync } from 'node:zlib';
import { checkBatch } from '#lib/protocol';
import { expect, it } from 'vitest';
import { eventAt, startsOfLines, unpack, type PackedBatch } from './unpack.js';

const rewound = (toTrainingStep: number) =>
  JSON.stringify({ type: 'run.rewound', at: '2026-01-01T00:00:00Z', toTrainingStep });

function packed(text: string, eventCount: number): PackedBatch {
  const ndjson = Buffer.from(text);
  return {
    firstPosition: 5,
    eventCount,
    receivedAt: new Date(0),
    payload: zstdCompressSync(ndjson),
    size: ndjson.length,
  };
}

it.each([
  ['one line', 'a', [0, 1]],
  ['a last newline', 'a\n', [0, 2]],
  ['two lines', 'a\nbc', [0, 2, 4]],
  ['two lines and a last newline', 'a\nbc\n', [0, 2, 5]],
  ['a byte order mark', '\uFEFFa\nb', [3, 5, 6]],
  ['nothing', '', [0]],
])('finds the lines of %s', (_, text, starts) => {
  expect([...startsOfLines(Buffer.from(text))]).toEqual(starts);
});

it.each([`${rewound(1)}\n${rewound(2)}\n`, `\uFEFF${rewound(1)}\r\n${rewound(2)}`])(
  'reads what the ingest accepts, event by event (%j)',
  async (text) => {
    const accepted = checkBatch(Buffer.from(text));
    const batch = await unpack(packed(text, accepted.length));
    expect([eventAt(batch, 5), eventAt(batch, 6)]).toEqual(accepted);
  },
);

it('refuses a batch that does not hold as many events as it says', async () => {
  await expect(unpack(packed(`${rewound(1)}\n`, 2))).rejects.toMatchObject({ code: 'chain.broken' });
});

it('stops unpacking where the batch said that it ends', async () => {
  await expect(unpack({ ...packed('a'.repeat(100_000), 1), size: 1000 })).rejects.toThrow(RangeError);
});
