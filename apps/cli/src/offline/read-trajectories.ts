import type { TrajectoryRecords } from '#lib/credit';
import { messageOf, RecreditError } from '#lib/kernel';
import { shown, trajectoryIssue, turnsIssue } from '#lib/protocol';
import { isObject } from '../options.js';
import { readWhole } from './read-file.js';

/** Trajectories to estimate, and the params that came with them where the file is one of vectors. */
export interface TrajectoryFile {
  readonly trajectories: TrajectoryRecords;
  readonly params: Readonly<Record<string, unknown>>;
}

interface Found {
  readonly where: string;
  readonly value: unknown;
}

const NEWLINE = 10;

/**
 * Reads trajectories from a JSON array, from an object with `trajectories`, from a case of a vector file, or from JSON
 * lines. What is not as the protocol has it is refused with its place.
 *
 * @param caseName which case of a vector file; not needed where there is one
 */
export async function readTrajectories(path: string, caseName?: string): Promise<TrajectoryFile> {
  const content = await readWhole(path);
  const firstLine = content.subarray(0, lineEnd(content, 0)).toString('utf8').trim();
  const { found, params } = isTrajectoryLine(firstLine)
    ? { found: lines(path, content), params: {} }
    : inDocument(path, document(path, content), caseName);
  return { trajectories: checked(found), params };
}

function isTrajectoryLine(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && !('trajectories' in value) && !('cases' in value);
  } catch {
    return false;
  }
}

function lines(path: string, content: Buffer): Found[] {
  const found: Found[] = [];
  for (let start = 0, number = 1; start < content.length; number++) {
    const end = lineEnd(content, start);
    const text = content.subarray(start, end).toString('utf8').trim();
    if (text !== '') found.push({ where: `${path}:${number}`, value: parsed(text, `${path}:${number}`) });
    start = end + 1;
  }
  return found;
}

function lineEnd(content: Buffer, start: number): number {
  const end = content.indexOf(NEWLINE, start);
  return end < 0 ? content.length : end;
}

function document(path: string, content: Buffer): unknown {
  const text = content.toString('utf8').replace(/^\uFEFF/, '');
  if (text.trim() === '') throw new RecreditError('file.invalid', `${path} is empty`);
  // a first line that is broken is a broken line where lines follow it
  return parsed(text, path);
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RecreditError('file.invalid', `${where}: not JSON: ${messageOf(error)}`, {}, { cause: error });
  }
}

function inDocument(
  path: string,
  value: unknown,
  caseName?: string,
): { found: Found[]; params: TrajectoryFile['params'] } {
  const listed = (list: unknown, place: string, params = {}) => {
    if (!Array.isArray(list)) {
      throw new RecreditError('file.invalid', `${place}: expected an array of trajectories, found ${shown(list)}`);
    }
    return { found: list.map((value, i) => ({ where: `${place}[${i}]`, value })), params };
  };
  if (Array.isArray(value)) return listed(value, path);
  if (isObject(value) && 'trajectories' in value) return listed(value.trajectories, `${path}: trajectories`);
  if (isObject(value) && Array.isArray(value.cases)) {
    const vector = chosenCase(path, value.cases, caseName);
    return listed(vector.trajectories, `${path}: ${String(vector.name)}`, isObject(vector.params) ? vector.params : {});
  }
  if (isObject(value) && 'turns' in value) return listed([value], path);
  throw new RecreditError(
    'file.invalid',
    `${path}: expected an array of trajectories, an object with trajectories, or one trajectory per line; found ${shown(value)}`,
  );
}

function chosenCase(path: string, cases: readonly unknown[], name?: string): Record<string, unknown> {
  const objects = cases.filter(isObject);
  const fitting = name === undefined ? objects : objects.filter((vector) => vector.name === name);
  if (fitting.length === 1) return fitting[0];
  const names = objects.map((vector) => String(vector.name)).join(', ');
  throw new RecreditError('file.invalid', `${path} holds several cases: choose one with --case; there are ${names}`);
}

function checked(found: readonly Found[]): TrajectoryRecords {
  const placeOf = new Map<unknown, string>();
  return found.map(({ where, value }) => {
    const issue = trajectoryIssue(value) ?? turnsIssue((value as TrajectoryRecords[number]).turns);
    if (issue) {
      const place = issue.pointer === '' ? where : `${where}, at ${issue.pointer}`;
      throw new RecreditError('file.invalid', `${place}: expected ${issue.expected}, found ${issue.found}`);
    }
    const record = value as TrajectoryRecords[number];
    const twin = placeOf.get(record.id);
    if (twin) throw new RecreditError('file.invalid', `${where}: trajectory ${record.id} is at ${twin} already`);
    placeOf.set(record.id, where);
    return record;
  });
}
