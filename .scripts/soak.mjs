// `npm run soak -- --minutes N [--seed S]`: breaks a platform in every way of test/support/faults.ts, at random by the
// seed, for N minutes. Progress goes to stderr; stdout gets one line. Status 1: something was not as promised.
import { parseArgs } from 'node:util';
import { build } from './build.mjs';

const USAGE = 'npm run soak -- --minutes N [--seed S]';

function settings() {
  try {
    const options = { minutes: { type: 'string' }, seed: { type: 'string', default: String(Date.now() % 100_000) } };
    const { minutes, seed } = parseArgs({ options }).values;
    if (!(Number(minutes) > 0))
      throw new Error(`--minutes: a number above 0 was wanted, found ${String(minutes ?? 'nothing')}`);
    return { minutes: Number(minutes), seed: String(seed) };
  } catch (error) {
    process.stderr.write(`${error.message}\n${USAGE}\n`);
    process.exit(2);
  }
}

const { minutes, seed } = settings();
await build();
await import('../test/support/register-libs.mjs');
const { soak } = await import('../test/faults/soak.ts');

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(130);
    process.stderr.write('stopping after this run; once more: at once\n');
    stop.abort();
  });
}
const started = performance.now();
const clock = () => `${Math.floor((performance.now() - started) / 1000)} s`.padStart(7);
const note = (text) => process.stderr.write(`${clock()}  ${text}\n`);
const { faults, acknowledged, lost, doubled, findings } = await soak({ minutes, seed, note, signal: stop.signal });
const taken = Math.round((performance.now() - started) / 60_000);
for (const finding of findings) process.stderr.write(`${finding}\n`);
process.stdout.write(
  `soak of ${taken} min, seed ${seed}: ${faults} faults injected, ${acknowledged} events acknowledged, ${lost} lost, ${doubled} doubled\n`,
);
process.exit(lost + doubled + findings.length === 0 ? 0 : 1);
