import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readLabels } from './read-labels.js';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'recredit-labels-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(...lines: readonly string[]) {
  const path = join(folder, 'labels.jsonl');
  await writeFile(path, lines.join('\n'));
  return readLabels(path, 'humanLabel');
}

it('reads labels and signals of turns and trajectories', async () => {
  const lines = await read(
    '{"trajectory": "a", "turn": 0, "label": -1}',
    '',
    '{"trajectory": "a", "turn": 1, "signals": {"judgeLabel": 1, "note": "x"}}\r',
    '{"trajectory": "a", "signals": {"helpful": true}}',
  );
  expect(lines).toEqual([
    { line: 1, trajectory: 'a', turn: 0, signals: { humanLabel: -1 } },
    { line: 3, trajectory: 'a', turn: 1, signals: { judgeLabel: 1, note: 'x' } },
    { line: 4, trajectory: 'a', turn: null, signals: { helpful: true } },
  ]);
});

it.each([
  ['{"trajectory": "a", "turn": 0, "label": 2}', 'line 1: label'],
  ['{"trajectory": "a", "label": 1}', 'line 1: a label is of a turn'],
  ['{"trajectory": "a", "turn": 0}', 'line 1: a label or signals were wanted'],
  ['{"trajectory": "a", "turn": 0, "lable": 1}', 'lable'],
  ['{"trajectory": "a", "turn": -1, "label": 1}', 'turn'],
  ['{"trajectory"', 'line 1: no JSON'],
  ['', 'there is no line in it'],
])('refuses %s', async (line, why) => {
  await expect(read(line)).rejects.toThrow(why);
});

it('refuses two labels of one turn and names both lines', async () => {
  const line = '{"trajectory": "a", "turn": 0, "label": 1}';
  await expect(read(line, line)).rejects.toThrow('line 2: humanLabel of the same turn stands on line 1 already');
});
