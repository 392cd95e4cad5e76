/** What says first how a run goes. */
const FIRST = ['successRate', 'meanReward', 'entropy', 'loss', 'kl', 'gradNorm'];

/** Order of metrics: those first, the rest by name. */
export function byImportance(a: string, b: string): number {
  const place = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return place(a) - place(b) || a.localeCompare(b);
}
