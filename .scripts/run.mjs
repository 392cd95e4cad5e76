// Runs the `recredit` command from the checkout: builds what changed, then hands over to the CLI.
import { build } from './build.mjs';

await build();
await import('../dist/apps/cli/src/main.js');
