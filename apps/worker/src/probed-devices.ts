import { fork } from 'node:child_process';
import type { DeviceReport, DeviceWish } from '#lib/tensor';

/** A GPU's driver may take seconds to load. */
const PROBE_MS = 60_000;

/**
 * What each device of this machine said, or what became of the process that asked them: a driver may take the process
 * along that loads it.
 */
export async function probedDevices(wish: DeviceWish): Promise<readonly DeviceReport[] | string> {
  const child = fork(new URL('./probe-devices.js', import.meta.url), [wish], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout: PROBE_MS,
  });
  const { promise, resolve } = Promise.withResolvers<readonly DeviceReport[] | string>();
  child.once('message', (reports) => resolve(reports as readonly DeviceReport[]));
  child.once('error', ({ message }) => resolve(`they could not be tried: ${message}`));
  child.once('exit', (code, signal) =>
    resolve(`trying them ended the process that did (${signal ?? `status ${code}`})`),
  );
  return promise;
}
