// `npm run bench [-- NAME ...]`: builds what changed, then measures. Results go to bench/results.json, which git ignores.
import { build } from './build.mjs';

await build();
await import('../dist/apps/bench/src/main.js');
