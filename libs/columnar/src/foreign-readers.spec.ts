import { trajectoryBatch } from '#lib/dataset';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arrowStream } from './arrow-stream.js';
import { encodeCredit } from './encode-credit.js';
import { encodeSegment } from './encode-segment.js';
import { trajectoryTable } from './trajectory-table.js';

const trajectories = trajectoryBatch([
  {
    id: 'a',
    group: 'g',
    trainingStep: 1,
    outcomeReward: 1,
    turns: [
      { state: 'é\u0000', action: 'go', reward: 0.25, signals: { note: 'x' }, tokens: { logprob: [-1, -2] } },
      { action: 'stop', signals: { votes: [1, 2] } },
    ],
  },
  { id: 'b', group: 'h', trainingStep: 1, turns: [] },
  { id: 'c', group: 'g', trainingStep: 2, turns: [{ state: 'broken \ud800', reward: 4 }] },
]);

/** The rows that a reader sees: id, group, reward and state of each turn, then the flat stream, then the credit. */
const EXPECTED = {
  numeric: [
    ['a', 'g', 0.25, [-1, -2]],
    ['a', 'g', null, []],
    ['c', 'g', 4, []],
  ],
  text: [
    ['a', 'é\u0000', 'x', null],
    ['a', null, null, '[1,2]'],
    ['c', 'broken \ufffd', null, null],
  ],
  credit: [
    ['a', 0, 0.5],
    ['a', 1, null],
    ['c', 0, -0.5],
  ],
  stream: [
    ['a', 'g', 1, 0, 'é\u0000', 0.25],
    ['a', 'g', 1, 1, null, null],
    ['c', 'g', 2, 0, 'broken \ufffd', 4],
    ['a', 'g', 1, 0, 'é\u0000', 0.25],
    ['a', 'g', 1, 1, null, null],
    ['c', 'g', 2, 0, 'broken \ufffd', 4],
  ],
};

const READERS = {
  pyarrow: `
import pyarrow.ipc as ipc
def rows(name):
    table = (ipc.open_stream if name == 'stream' else ipc.open_file)(name + '.arrow').read_all()
    table.validate(full=True)
    return table.to_pylist()
turns = lambda name: [{**row, **turn} for row in rows(name) for turn in row['turns']]
stream = rows('stream')
`,
  polars: `
import polars, warnings
warnings.simplefilter('ignore', DeprecationWarning) # of explode and empty lists; there are none here
turns = lambda name: polars.read_ipc(name + '.arrow').filter(polars.col('turns').list.len() > 0).explode('turns').unnest('turns').to_dicts()
stream = polars.read_ipc_stream('stream.arrow').to_dicts()
`,
  duckdb: `
import duckdb, pyarrow.ipc as ipc
def turns(name):
    file = ipc.open_file(name + '.arrow').read_all()
    found = duckdb.sql('select * exclude turn, turn.* from (select * exclude turns, unnest(turns) turn from file)')
    return [dict(zip(found.columns, row)) for row in found.fetchall()]
found = ipc.open_stream('stream.arrow').read_all()
stream = [dict(zip(found.column_names, row)) for row in duckdb.sql('from found').fetchall()]
`,
};

const SCRIPT = `
import json
pick = lambda rows, *names: [[row[name] for name in names] for row in rows]
print(json.dumps({
    'numeric': [[*row[:3], [token['logprob'] for token in row[3]]] for row in pick(turns('numeric'), 'id', 'group', 'reward', 'tokens')],
    'text': pick(turns('text'), 'id', 'state', 'note', 'votes'),
    'credit': pick(turns('credit'), 'trajectory', 'turn', 'credit'),
    'stream': pick(stream, 'trajectory', 'group', 'trainingStep', 'turn', 'state', 'reward'),
}))
`;

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-readers-'));
  const write = (name: string, bytes: Uint8Array) => writeFileSync(join(folder, `${name}.arrow`), bytes);
  const { numeric, text } = encodeSegment(trajectories, Float64Array.of(1, 2, 3));
  write('numeric', numeric);
  write('text', text);
  const credit = { level: 'turn', values: Float64Array.of(0.5, NaN, -0.5) } as const;
  write('credit', encodeCredit({ estimator: 'e', version: 1, params: {}, trajectories, credit, warnings: [] }));
  const table = trajectoryTable([]);
  const rows = table.rowsOf(trajectories);
  write('stream', Buffer.concat(await Array.fromAsync(arrowStream(table.columns, [rows, rows]))));
});

afterAll(() => rmSync(folder, { recursive: true }));

describe.each(Object.entries(READERS))('%s', (name, reader) => {
  const there = spawnSync('python3', ['-c', `import ${name}, pyarrow`]).status === 0;

  it.skipIf(!there)(`reads our files as they are${there ? '' : ' (left out: python3 cannot import it)'}`, () => {
    const { stdout, stderr } = spawnSync('python3', ['-c', reader + SCRIPT], { cwd: folder, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
  });
});
