import type { ReadColumn } from './read-columns.js';

/** Field metadata: the name as JSON, where the column had to be called otherwise. */
const NAME = 'recredit.name';

/**
 * A name for a column that is not used yet. Where the name it should have is taken, or is no well-formed text, it gets
 * underscores and keeps its name in the metadata of the field.
 */
export function freeName(name: string, used: Set<string>): { name: string; metadata: Map<string, string> } {
  let free = name.toWellFormed();
  while (used.has(free)) free += '_';
  used.add(free);
  return { name: free, metadata: new Map(free === name ? [] : [[NAME, JSON.stringify(name)]]) };
}

/** The name that a column should have had. */
export function nameOf({ field }: ReadColumn): string {
  const name = field.metadata.get(NAME);
  return name === undefined ? field.name : (JSON.parse(name) as string);
}
