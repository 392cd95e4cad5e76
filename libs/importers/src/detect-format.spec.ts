import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasShared, ownFile, sharedFile } from '../../../test/support/read-import.js';
import { detectFormat } from './detect-format.js';
import { IMPORTERS } from './importers.js';

const OWN = globSync(ownFile('**/*.*')).toSorted();
const formatOf = (path: string) => relative(ownFile('.'), path).split('/')[0];

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-detect-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

describe('detectFormat', () => {
  it('has a file of ours for every format', () => {
    expect([...new Set(OWN.map(formatOf))].toSorted()).toEqual(IMPORTERS.map(({ id }) => id).toSorted());
  });

  it.each(OWN.map((path) => [relative(ownFile('.'), path), path]))(
    'recognizes %s and says by what',
    async (_, path) => {
      const { importer, why } = await detectFormat(path);
      expect(importer.id).toBe(formatOf(path));
      expect(why.length).toBeGreaterThan(10);
    },
  );

  it('looks into gzip and zstd, past broken lines, whatever the name', async () => {
    const line = '{"input":"a","output":"b","score":1,"step":3}\n';
    for (const content of [line, `\n{"torn\n${line}`, gzipSync(line), zstdCompressSync(line)]) {
      expect((await detectFormat(file('x.dat', content))).importer.id).toBe('verl');
    }
  });

  it('refuses what may be two things, and names both with their reasons', async () => {
    const both = { input: 'a', output: 'b', score: 1, step: 3, input_prompt: 'a', output_response: 'b' };
    const path = file('both.jsonl', JSON.stringify(both));
    await expect(detectFormat(path)).rejects.toMatchObject({
      code: 'format.unknown',
      message: `${path} may be verl (its first line has input, output, score and step) or skyrl (its first line has input_prompt, output_response and score): say which`,
      details: { candidates: ['verl', 'skyrl'] },
    });
  });

  it('says what a file of no known format begins with', async () => {
    const unknown = (content: string) => detectFormat(file('x.jsonl', content)).catch((error: Error) => error.message);
    expect(await unknown('{"a":1,"b":2}')).toContain(
      'of no format that is recognized: what it begins with has a, b; there are',
    );
    expect(await unknown('1\n2\n')).toContain('it holds no JSON object');
    expect(await unknown('')).toContain('it holds no JSON object');
  });
});

const skippedBecause = 'detectFormat on the real files (skipped where ../shared/data is absent)';

describe.skipIf(!hasShared('mint-bench'))(skippedBecause, () => {
  const FORMATS: Record<string, string> = {
    agentprocessbench: 'agent-process-bench',
    'mint-bench': 'mint',
  };

  it('recognizes every one', async () => {
    const files = globSync(sharedFile('**/*.gz')).toSorted();
    expect(files.length).toBeGreaterThan(30);
    const wrong: string[] = [];
    for (const path of files) {
      const name = relative(sharedFile('.'), path);
      const wanted = FORMATS[name.split('/')[0]] ?? name.split('/')[0];
      const { importer } = await detectFormat(path);
      if (importer.id !== wanted) wrong.push(`${name}: ${importer.id}`);
    }
    expect(wrong).toEqual([]);
  });
});
