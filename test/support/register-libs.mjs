// For child processes that specs start from TypeScript sources: `node --import <this file> some.ts`. Compiles as the
// build does, and resolves `#lib/x` to the source and `./y.js` to `./y.ts`, as vitest does.
import { transformSync } from '@swc/core';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const isOurs = (url) => url?.startsWith(root.href) && !url.includes('/node_modules/');

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('#lib/'))
      return next(new URL(`libs/${specifier.slice(5)}/src/index.ts`, root).href, context);
    if (isOurs(context.parentURL) && specifier.startsWith('.')) return next(specifier.replace(/\.js$/, '.ts'), context);
    return next(specifier, context);
  },
  load(url, context, next) {
    if (!isOurs(url) || !url.endsWith('.ts')) return next(url, context);
    const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
      swcrc: false,
      sourceMaps: 'inline',
      module: { type: 'es6' },
      jsc: {
        target: 'es2024',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
      },
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
