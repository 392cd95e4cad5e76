// Lets a plain `node --experimental-transform-types --import` run our sources: `#lib/x` and `./y.js` name TypeScript.
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

registerHooks({
  resolve(specifier, context, next) {
    const lib = /^#lib\/(.+)$/.exec(specifier)?.[1];
    if (lib) return next(new URL(`libs/${lib}/src/index.ts`, root).href, context);
    if (specifier.startsWith('.') && specifier.endsWith('.js')) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
      if (existsSync(fileURLToPath(source))) return next(source.href, context);
    }
    return next(specifier, context);
  },
});
