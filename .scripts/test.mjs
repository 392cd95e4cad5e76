// `npm test`: builds, runs all tests (or those named by arguments), and ends with the line `N passed, M failed`.
import { startVitest } from 'vitest/node';
import { build } from './build.mjs';

await build();
const vitest = await startVitest('test', process.argv.slice(2), { watch: false, run: true });
const counts = { passed: 0, failed: 0, skipped: 0 };
for (const module of vitest.state.getTestModules()) {
  for (const test of module.children.allTests()) counts[test.result().state] += 1;
  // A file that could not even be collected has no tests to count.
  if (module.state() === 'failed' && module.errors().length > 0) counts.failed += 1;
}
counts.failed += vitest.state.getUnhandledErrors().length;
await vitest.close();

if (counts.skipped > 0) process.stdout.write(`${counts.skipped} skipped: what they need is not on this machine\n`);
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);
