// Compiles apps, libs and migrations to dist with one swc pass, only what is newer than its output, and the dashboard
// with Vite where any of its files is newer than its page.
import { transformFile } from '@swc/core';
import { existsSync, globSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const SOURCES = ['apps/{api,worker,cli,example-trainer,bench}/**/*.ts', 'libs/**/*.ts', 'migrations/*.ts'];
const isTest = (file) => /\.(int-|e2e-)?spec\.ts$/.test(file);
const outputOf = (file) => join(root, 'dist', file.replace(/\.ts$/, '.js'));

const options = {
  swcrc: false,
  sourceMaps: true,
  module: { type: 'es6' },
  jsc: {
    target: 'es2024',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    keepClassNames: true,
  },
};

/** Compiles what changed, and removes the output of sources that are gone. */
export async function build() {
  const sources = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root })).filter((file) => !isTest(file));
  const wanted = new Set(sources.map(outputOf));
  for (const old of globSync('dist/{apps,libs,migrations}/**/*.js', { cwd: root })) {
    if (!wanted.has(join(root, old))) rmSync(join(root, old));
  }
  const stale = sources.filter((file) => {
    const output = outputOf(file);
    return !existsSync(output) || statSync(output).mtimeMs < statSync(join(root, file)).mtimeMs;
  });
  await Promise.all(
    stale.map(async (file) => {
      const { code, map } = await transformFile(join(root, file), { ...options, filename: file });
      const output = outputOf(file);
      mkdirSync(dirname(output), { recursive: true });
      writeFileSync(`${output}.map`, map);
      writeFileSync(output, `${code}\n//# sourceMappingURL=${output.split('/').at(-1)}.map\n`);
    }),
  );
  await buildDashboard();
}

/** One Vite build takes seconds, so it is loaded only when there is something to do. */
async function buildDashboard() {
  const folder = join(root, 'apps/dashboard');
  const page = join(root, 'dist/dashboard/index.html');
  const files = ['apps/dashboard/{index.html,vite.config.ts}', 'apps/dashboard/src/**/*.{ts,tsx,css}'];
  const newest = Math.max(
    ...globSync(files, { cwd: root })
      .filter((file) => !isTest(file))
      .map((file) => statSync(join(root, file)).mtimeMs),
  );
  if (existsSync(page) && statSync(page).mtimeMs >= newest) return;
  const { build: bundle } = await import('vite');
  await bundle({ root: folder, configFile: join(folder, 'vite.config.ts'), logLevel: 'warn' });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await build();
