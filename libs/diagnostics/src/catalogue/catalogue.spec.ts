import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout } from './behaviour.fixture.js';
import { DIAGNOSTICS } from './index.js';

const INDEX = readFileSync('docs/diagnostics/README.md', 'utf8');

/** Without what a formatter may change: escapes and line breaks. */
const plain = (text: string) => text.replaceAll('\\', '').replaceAll(/\s+/g, ' ');

it('has ids that are told apart', () => {
  const ids = DIAGNOSTICS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[a-z]+(-[a-z]+)*$/.test(id))).toEqual([]);
});

it('explains every diagnostic on a page: its id, source, settings and alerts', () => {
  const missing = DIAGNOSTICS.flatMap((diagnostic) => {
    const { id, source, question } = diagnostic;
    const path = `docs/diagnostics/${id}.md`;
    if (!existsSync(path)) return [`${path} is missing`];
    const page = plain(readFileSync(path, 'utf8'));
    const settings = [diagnostic.params, diagnostic.thresholds].flatMap((schema) => Object.keys(schema.shape));
    const rules = diagnostic.rules(z.parse(diagnostic.thresholds, {}) as never);
    const named = [id, ...settings, ...rules.map((rule) => rule.id)].map((name) => `\`${name}\``);
    return [...named, plain(source), plain(question)]
      .filter((text) => !page.includes(text))
      .map((text) => `${path} does not say ${text}`);
  });
  expect(missing).toEqual([]);
});

it('lists every page in the index', () => {
  expect(DIAGNOSTICS.map(({ id }) => `(${id}.md)`).filter((link) => !INDEX.includes(link))).toEqual([]);
});

it('shows a headline that its readings can have, and says what to do in a sentence', () => {
  expect(DIAGNOSTICS.filter(({ headline, remedy }) => headline === '' || !remedy.endsWith('.')).map(({ id }) => id)).toEqual([]); // prettier-ignore
});

it.each([
  ['a success', [rollout('a', 'g', 1, [{ state: 's', action: 'x' }])]],
  ['a failure', [rollout('a', 'g', 0, [{ state: 's', action: 'x' }])]],
  ['both', [rollout('a', 'g', 1, [{ state: 's', action: 'x' }]), rollout('b', 'g', 0, [{ state: 's', action: 'y' }])]],
])('speaks of one thing in the singular, in a run that is %s', (_, records) => {
  const sentences = DIAGNOSTICS.map((diagnostic) => diagnoseRecords(diagnostic, [records]).sentence);
  const plural =
    /(?<![\d.,@-])1 (\w+ ){0,2}(are|were|have|carry|steps|groups|tasks|things|states|turns|failures|rollouts)\b/;
  expect(sentences.filter((sentence) => plural.test(sentence))).toEqual([]);
});
