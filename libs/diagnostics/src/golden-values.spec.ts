import { existsSync, readFileSync } from 'node:fs';
import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { GOLDEN_DIAGNOSTICS, goldenValues, type GoldenInput } from './golden-values.js';

interface GoldenCase {
  readonly name: string;
  readonly params: Record<string, unknown>;
  readonly tolerance: number;
  readonly trajectories?: Parameters<typeof trajectoryBatch>[0];
  readonly trainingSteps?: GoldenInput['trainingSteps'];
  readonly checkpoints?: readonly unknown[];
  readonly anchors?: readonly unknown[];
  readonly expected: Record<string, unknown>;
}

/** Paths at which two values differ; numbers may by the tolerance, and what is not expected is not looked at. */
function differences(expected: unknown, found: unknown, tolerance: number, path = ''): string[] {
  if (typeof expected === 'number' && typeof found === 'number') {
    return Math.abs(expected - found) <= tolerance ? [] : [`${path}: expected ${expected}, found ${found}`];
  }
  if (Array.isArray(expected) && Array.isArray(found) && expected.length === found.length) {
    return expected.flatMap((value, i) => differences(value, found[i], tolerance, `${path}[${i}]`));
  }
  if (isRecord(expected) && isRecord(found)) {
    return Object.keys(expected).flatMap((key) => differences(expected[key], found[key], tolerance, `${path}.${key}`));
  }
  return expected === found ? [] : [`${path}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

describe.each(GOLDEN_DIAGNOSTICS)('%s agrees with its golden vectors', (diagnostic) => {
  const file = [`test/golden/diag-${diagnostic}.json`, `test/golden/${diagnostic}.json`].find(existsSync)!;
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: GoldenCase[] };
  it.each(cases)('$name', ({ params, expected, tolerance, ...given }) => {
    const { trajectories = [], trainingSteps = [], checkpoints = [], anchors = [] } = given;
    const input = {
      trajectories: trajectoryBatch(trajectories, { exactTokens: true }),
      trainingSteps,
      checkpoints,
      anchors,
    };
    const found = goldenValues(diagnostic, input, params);
    expect(differences(expected, found, tolerance)).toEqual([]);
  });
});
