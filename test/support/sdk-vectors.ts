import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of `test/sdk-vectors`, which the tests of the TypeScript and of the Python SDK read. */
// each file has a shape of its own
// oxlint-disable-next-line typescript/no-explicit-any
export function sdkVectors(name: string): any {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../sdk-vectors', name), 'utf8'));
}

/**
 * A value of a vector as the language has it. What JSON cannot say stands as an object with one of these names:
 * $number, $float (a float, also where it is whole), $float32, $float64, $int32, $repeat, $nested, $names.
 */
export function revived(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== 'object' || value === null) return value;
  const said = value as Record<string, never>;
  if ('$number' in said || '$float' in said) return Number(said.$number ?? said.$float);
  if ('$float32' in said) return Float32Array.from(said.$float32 as unknown[], Number);
  if ('$float64' in said) return Float64Array.from(said.$float64 as unknown[], Number);
  if ('$int32' in said) return Int32Array.from(said.$int32 as number[]);
  if ('$repeat' in said) return (said.$repeat[0] as string).repeat(said.$repeat[1]);
  if ('$nested' in said) return nested(said.$nested);
  if ('$names' in said) {
    const names = Array.from({ length: said.$names }, (_, i) => `s${i}`.padEnd(said.$length ?? 1, 'x'));
    return Object.fromEntries(names.map((name) => [name, 1]));
  }
  return Object.fromEntries(Object.entries(said).map(([name, item]) => [name, revived(item)]));
}

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
