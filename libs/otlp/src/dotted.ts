import { isDeeperThan } from '#lib/protocol';
import { MAX_DEPTH, type Attributes, type Json } from './span.js';

/** Flattened names go so deep at most: `llm.input_messages.0.message.tool_calls.0.tool_call.function.arguments`. */
const MAX_PATH = 16;

/**
 * What stands flattened under a prefix, nested again: `llm.input_messages.0.message.role` becomes the `role` of the
 * `message` of the first entry. Entries come in the order of their indices, whatever indices they have. A value that is
 * not flattened (an object, a list, or JSON text of either) is taken as it is.
 *
 * @returns [] where nothing stands there
 */
export function entriesUnder(attributes: Attributes, prefix: string): Json[] {
  const whole = parsed(attributes.get(prefix) ?? null);
  if (whole !== null) return Array.isArray(whole) ? [...(whole as readonly Json[])] : [whole];
  const flat = [...attributes].flatMap(([key, value]): [string[], Json][] =>
    key.startsWith(`${prefix}.`) ? [[key.slice(prefix.length + 1).split('.', MAX_PATH), value]] : [],
  );
  return listOf(nested(flat));
}

/** JSON text as what it says; other text (also where it nests too deeply), and what is no text, as it is. */
export function parsed(value: Json): Json {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    const said = JSON.parse(value) as Json;
    return isDeeperThan(said, MAX_DEPTH) ? value : said;
  } catch {
    return value;
  }
}

/** A field of an object; null where there is none. */
export function field(value: Json | undefined, ...path: readonly string[]): Json {
  let at: Json = value ?? null;
  for (const name of path) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name)) return null;
    at = (at as { readonly [name: string]: Json })[name];
  }
  return at;
}

type Tree = Map<string, [path: string[], value: Json][]>;

function nested(flat: readonly [path: string[], value: Json][]): Tree {
  return Map.groupBy(flat, ([path]) => path[0]);
}

/** What is named by numbers, in their order. */
function listOf(tree: Tree): Json[] {
  return [...tree]
    .filter(([name]) => /^\d{1,9}$/.test(name))
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([, below]) => valueOf(below));
}

function valueOf(below: readonly [path: string[], value: Json][]): Json {
  const leaf = below.find(([path]) => path.length === 1);
  if (leaf) return leaf[1];
  const tree = nested(below.map(([path, value]) => [path.slice(1), value]));
  if ([...tree.keys()].every((name) => /^\d{1,9}$/.test(name))) return listOf(tree);
  return Object.fromEntries([...tree].map(([name, inside]) => [name, valueOf(inside)]));
}
