import { nearestName } from '#lib/kernel';
import { SIGNALS, type SignalDefinition } from './signal-catalogue.js';

const byName = new Map(SIGNALS.map((signal) => [signal.name, signal]));

/** `turn.valueEstimate` and `turn.valueEstimate@judge` in their parts. */
function partsOf(path: string): { level: string; name: string } {
  const dot = path.indexOf('.');
  return { level: path.slice(0, dot), name: path.slice(dot + 1).replace(/@.*$/, '') };
}

/** What the catalogue knows of a signal at its level, `turn.valueEstimate`; undefined: nothing. */
export function signalAt(path: string): SignalDefinition | undefined {
  const { level, name } = partsOf(path);
  const signal = byName.get(name);
  return signal?.levels.some((each) => each === level) ? signal : undefined;
}

/** Where the level is wrong too, fewer letters may be: `trajectory.task` is not `token.mask`. */
const LETTERS_PER_MISTAKE_ELSEWHERE = 8;

/**
 * What was meant by a signal that nobody knows: the same one at the level at which it occurs, or else one of nearly that name,
 * at the same level if one occurs there.
 *
 * @param also paths that are known too: what users' own estimators read
 * @returns its path; null where it is known, or nothing is near
 */
export function suggestSignal(path: string, also: Iterable<string> = []): string | null {
  if (signalAt(path)) return null;
  const known = new Map(SIGNALS.map(({ name, levels }) => [name, [...levels] as string[]]));
  for (const { level, name } of Array.from(also, partsOf)) known.set(name, [...(known.get(name) ?? []), level]);
  const { level, name } = partsOf(path);
  if (known.get(name)?.includes(level)) return null;
  const here = [...known].filter(([, levels]) => levels.includes(level)).map(([each]) => each);
  const near = known.has(name) ? null : nearestName(name, here);
  if (near !== null) return `${level}.${near}`;
  const elsewhere = nearestName(name, known.keys(), LETTERS_PER_MISTAKE_ELSEWHERE);
  return elsewhere === null ? null : `${known.get(elsewhere)![0]}.${elsewhere}`;
}

/**
 * Under which name a signal that is missing may have been recorded: the same one at another level, or one that nobody knows
 * and that is nearly spelt so.
 *
 * @returns its path; null where nothing is near
 */
export function recordedInstead(missing: string, recorded: Iterable<string>): string | null {
  const { name } = partsOf(missing);
  const others = Array.from(recorded).filter((path) => path !== missing && !path.includes('@'));
  const sameName = others.find((path) => partsOf(path).name === name);
  if (sameName !== undefined) return sameName;
  const unknown = new Map(others.filter((path) => !signalAt(path)).map((path) => [partsOf(path).name, path]));
  const meant = nearestName(name, unknown.keys());
  return meant === null ? null : unknown.get(meant)!;
}
