import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };

const PAGES = [...globSync('README.md'), ...globSync('docs/**/*.md')].map((path) => {
  const text = readFileSync(path, 'utf8');
  return { path, text, prose: text.replace(/^```[\s\S]*?^```/gm, '') };
});
const SOURCES = globSync('{apps,libs}/*/src/**/*.ts').filter((path) => !/\.(int-|e2e-)?spec\.ts$/.test(path));
const VARIABLE = /RECREDIT_[A-Z]+(?:_[A-Z]+)*/g;

/** Per page what a pattern's first group finds and `isRight` does not like. */
function wrong(pattern: RegExp, isRight: (found: string, page: string) => boolean, part: 'text' | 'prose' = 'text') {
  return PAGES.flatMap(({ path, ...page }) =>
    [...page[part].matchAll(pattern)]
      .filter(([, found]) => !isRight(found, path))
      .map(([, found]) => `${path}: ${found}`),
  );
}

/** The names that headings can be linked by, as GitHub makes them. */
function anchorsOf(path: string): string[] {
  const headings = readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, title]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it('finds the pages and sources it is there to judge', () => {
  expect(PAGES.length).toBeGreaterThan(20);
  expect(SOURCES.length).toBeGreaterThan(200);
});

it('links to pages and headings that are there', () => {
  const resolves = (link: string, page: string) => {
    if (/^(https?|mailto):/.test(link)) return true;
    const [target, anchor] = link.split('#');
    const path = target ? join(dirname(page), decodeURIComponent(target)) : page;
    return existsSync(path) && (!anchor || anchorsOf(path).includes(anchor));
  };
  expect(wrong(/\]\(([^)\s]+)\)/g, resolves, 'prose')).toEqual([]);
});

it('names npm scripts that are there', () => {
  const scripts = Object.keys(packageJson.scripts);
  expect(wrong(/npm run (?:-s )?([a-z]+(?::[a-z]+)*)/g, (name) => scripts.includes(name))).toEqual([]);
});

it('names commands that are there', () => {
  const made = SOURCES.flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/new Command\('([a-z]+)'\)/g)]);
  const commands = new Set(made.map(([, name]) => name));
  const named = /(?:`|^|npm run -s )recredit (?:-- )?([a-z]+)/gm;
  expect(wrong(named, (name) => commands.has(name))).toEqual([]);
});

it('names environment variables that something reads', () => {
  const read = new Set(SOURCES.flatMap((path) => readFileSync(path, 'utf8').match(VARIABLE) ?? []));
  expect(wrong(/(RECREDIT_[A-Z]+(?:_[A-Z]+)*)/g, (name) => read.has(name))).toEqual([]);
});

it('explains every environment variable to who operates a platform', () => {
  const guide = readFileSync('docs/guides/operate.md', 'utf8');
  const read = SOURCES.flatMap((path) => readFileSync(path, 'utf8').match(VARIABLE) ?? []);
  expect([...new Set(read)].filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

it('names files of the code that are there', () => {
  const path = /`((?:libs|apps|test|docs|migrations|\.scripts|\.ci)\/[^`<>{}*@:\s]+)`/g;
  expect(wrong(path, (found) => existsSync(found), 'prose')).toEqual([]);
});

it('lists every decision in the index', () => {
  const index = readFileSync('docs/decisions/README.md', 'utf8');
  const missing = globSync('docs/decisions/[0-9]*.md').filter((path) => !index.includes(`(${path.split('/').at(-1)})`));
  expect(missing).toEqual([]);
});

it('explains each word of the glossary in one place', () => {
  const words = [...readFileSync('docs/glossary.md', 'utf8').matchAll(/^\| ([^|]+?) +\|/gm)].flatMap(([, cell]) =>
    cell.split(', '),
  );
  const explained = words.filter((word) => word !== 'word' && !word.startsWith('-'));
  expect(explained.filter((word, i) => explained.indexOf(word) !== i)).toEqual([]);
  expect(explained.length).toBeGreaterThan(60);
});
