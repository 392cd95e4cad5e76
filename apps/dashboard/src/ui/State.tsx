const TONE: Readonly<Record<string, string>> = {
  RUNNING: 'live',
  PLANNING: 'live',
  LIVE: 'live',
  COMPLETED: 'good',
  FINISHED: 'good',
  FAILED: 'bad',
  INCOMPLETE: 'bad',
};

/** A state in one word; its colour repeats what the word says. */
export function State({ state }: { readonly state: string }) {
  return <span className={`state state-${TONE[state] ?? 'calm'}`}>{state.toLowerCase()}</span>;
}
