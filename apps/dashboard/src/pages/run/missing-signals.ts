interface Signal {
  readonly level: string;
  readonly name: string;
}

/** Every turn has them. */
const ALWAYS = ['turn.state', 'turn.action'];

/** The signals that an estimator requires and a run does not carry. */
export function missingSignals(requires: readonly string[], signals: readonly Signal[]): string[] {
  const carried = new Set([...ALWAYS, ...signals.map(({ level, name }) => `${level}.${name}`)]);
  return requires.filter((path) => !carried.has(path));
}
