import { messageOf, RecreditError } from '#lib/kernel';
import { z } from 'zod';
import { readWhole } from './read-file.js';

/** A line of a file of labels. */
export interface LabelLine {
  /** from 1 */
  readonly line: number;
  readonly trajectory: string;
  readonly turn: number | null;
  readonly signals: Readonly<Record<string, unknown>>;
}

const Line = z
  .strictObject({
    trajectory: z.string().min(1),
    turn: z.int().nonnegative().nullish(),
    label: z.literal([-1, 0, 1]).optional(),
    signals: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(({ label, signals }) => label !== undefined || Object.keys(signals ?? {}).length > 0, {
    message: 'a label or signals were wanted, found neither',
  })
  .refine(({ label, turn }) => label === undefined || turn != null, {
    message: 'a label is of a turn, and none is named',
  });

const SHOWN = 5;

/**
 * Labels as JSON lines `{trajectory, turn, label}` or `{trajectory, turn, signals}`; all of them, or none.
 *
 * @param signal what a `label` is stored under
 */
export async function readLabels(path: string, signal: string): Promise<LabelLine[]> {
  const text = (await readWhole(path)).toString('utf8');
  const wrong: string[] = [];
  const firstAt = new Map<string, number>();
  const lines = text.split('\n').flatMap((content, i): LabelLine[] => {
    if (content.trim() === '') return [];
    const line = i + 1;
    const read = parsed(content);
    if (typeof read === 'string') {
      wrong.push(`line ${line}: ${read}`);
      return [];
    }
    const { trajectory, turn = null, label, signals } = read;
    const all = { ...signals, ...(label !== undefined && { [signal]: label }) };
    for (const name of Object.keys(all)) {
      const key = JSON.stringify([trajectory, turn, name]);
      const first = firstAt.get(key);
      if (first !== undefined) wrong.push(`line ${line}: ${name} of the same turn stands on line ${first} already`);
      firstAt.set(key, line);
    }
    return [{ line, trajectory, turn, signals: all }];
  });
  if (wrong.length === 0 && lines.length === 0) wrong.push('there is no line in it');
  if (wrong.length === 0) return lines;
  const more = wrong.length > SHOWN ? `; and ${wrong.length - SHOWN} more` : '';
  throw new RecreditError('file.invalid', `${path}: ${wrong.slice(0, SHOWN).join('; ')}${more}`, {
    wrong: wrong.length,
  });
}

function parsed(content: string): z.infer<typeof Line> | string {
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch (error) {
    return `no JSON: ${messageOf(error)}`;
  }
  const read = Line.safeParse(json);
  if (read.success) return read.data;
  return read.error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join('; ');
}
