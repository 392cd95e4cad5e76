import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ESTIMATORS } from './estimators/index.js';
import { paramsSchema } from './run-estimator.js';
import { checkVectors } from './vectors.js';

const read = (file: string) => readFileSync(file, 'utf8');

describe.each(ESTIMATORS)('$id', (estimator) => {
  const page = existsSync(`docs/estimators/${estimator.id}.md`) ? read(`docs/estimators/${estimator.id}.md`) : '';

  it('has an id of its own, in kebab-case', () => {
    expect(estimator.id).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
    expect(ESTIMATORS.filter(({ id }) => id === estimator.id)).toHaveLength(1);
  });

  it('says where it comes from', () => {
    const { paper, code, work } = estimator.citation;
    expect(paper ?? code ?? work).toBeTruthy();
    if (paper) expect(paper).toMatch(/^arXiv:\d{4}\.\d{4,5}$/);
    if (code) expect(code).toMatch(/^[\w.-]+\/[\w.-]+:\S+@[0-9a-f]{7,40}$/);
    for (const source of [paper, code?.split('@')[1], work]) if (source) expect(page).toContain(source);
  });

  it('has golden vectors, or is reconstructed or our own and its page says what is uncertain', () => {
    const hasVectors = existsSync(`test/golden/${estimator.id}.json`);
    const needsNone = estimator.status === 'reconstructed' || (estimator.status === 'own' && !hasVectors);
    if (needsNone) expect(page).toMatch(/^## What is uncertain\n\n\S/m);
    else expect(hasVectors).toBe(true);
  });

  it('has a spec of its own', () => {
    expect(existsSync(`libs/credit/src/estimators/${estimator.id}.spec.ts`)).toBe(true);
  });

  it('has its ways named for the property tests', () => {
    expect(read('libs/credit/src/estimators.spec.ts')).toMatch(new RegExp(`^  '?${estimator.id}'?: \\[`, 'm'));
  });

  it('has a page that the list leads to', () => {
    expect(page).toContain(`(\`${estimator.id}\`)`);
    expect(read('docs/estimators/README.md')).toContain(`[\`${estimator.id}\`](${estimator.id}.md)`);
  });

  it('has a page that names its signals', () => {
    const { requires, accepts, conditional = [] } = estimator;
    const paths = [
      requires,
      accepts,
      ...conditional.flatMap((more) => [more.requires ?? [], more.accepts ?? []]),
    ].flat();
    for (const path of paths)
      expect(page).toContain(path.replace(/^token\./, 'tokens.').replace(/^(turn|trajectory)\./, ''));
  });

  it('has a page with its params and their defaults, and no others', () => {
    const { properties } = paramsSchema(estimator) as { properties: Record<string, { default: unknown }> };
    const rows = [
      ...page
        .split('## Params')[1]
        .split('\n## ')[0]
        .matchAll(/^\| `(\w+)` +\| `([^`]+)` +\|/gm),
    ];
    const documented = Object.fromEntries(rows.map(([, name, value]) => [name, JSON.parse(value) as unknown]));
    expect(documented).toEqual(Object.fromEntries(Object.entries(properties).map(([name, p]) => [name, p.default])));
  });

  it('has a page whose example is right', () => {
    const example = page.match(/```json\n(.*?)```/s)?.[1] ?? '{}';
    const { subject, cases } = checkVectors(JSON.parse(example));
    expect(subject).toBe(estimator.id);
    expect(cases.length).toBeGreaterThan(0);
    expect(cases.flatMap(({ differences }) => differences)).toEqual([]);
  });
});
