const WARM_UPS = 2;
const MIN_TIMES = 3;
const MAX_TIMES = 200;
const BUDGET_MS = 400;

/** How many units a second `work` does: the median of many times, after some that are not counted. */
export async function rate(units: number, work: () => unknown): Promise<number> {
  const seconds: number[] = [];
  const end = performance.now() + BUDGET_MS;
  for (let i = 0; i < WARM_UPS; i++) await work();
  while (seconds.length < MIN_TIMES || (performance.now() < end && seconds.length < MAX_TIMES)) {
    const started = performance.now();
    await work();
    seconds.push((performance.now() - started) / 1000);
  }
  return units / seconds.toSorted((a, b) => a - b)[seconds.length >> 1];
}

/** The same by the processor's time of this thread, which says as much on a machine that others use too. */
export async function cpuRate(units: number, work: () => unknown): Promise<number> {
  const seconds: number[] = [];
  const end = performance.now() + BUDGET_MS;
  await work();
  while (seconds.length < MIN_TIMES || (performance.now() < end && seconds.length < MAX_TIMES)) {
    const started = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(started);
    seconds.push((user + system) / 1e6);
  }
  return units / seconds.toSorted((a, b) => a - b)[seconds.length >> 1];
}

/** The same of what can be done only once. */
export async function rateOnce(units: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return units / ((performance.now() - started) / 1000);
}
