import { useSyncExternalStore } from 'react';

/** What the page hears the API by. */
type Way = 'requests' | 'subscriptions';

/** Whether what is on screen is fresh. */
export interface LinkState {
  /** when the first way was lost; null: all is well */
  readonly lostAt: number | null;
  /** how often it came back: what is shown is asked for again then */
  readonly returns: number;
}

const PROBE_MS = 2000;

const lost = new Set<Way>();
const listeners = new Set<() => void>();
let state: LinkState = { lostAt: null, returns: 0 };
let probing: ReturnType<typeof setInterval> | null = null;

/** The API was not heard. Requests are tried again from here, subscriptions by their socket. */
export function lose(way: Way): void {
  lost.add(way);
  if (state.lostAt === null) change({ ...state, lostAt: Date.now() });
  if (way === 'requests') probing ??= setInterval(() => void probe(), PROBE_MS);
}

/** The API was heard again, or nobody listens any more. */
export function regain(way: Way): void {
  if (!lost.delete(way)) return;
  if (way === 'requests' && probing !== null) {
    clearInterval(probing);
    probing = null;
  }
  if (lost.size === 0) change({ lostAt: null, returns: state.returns + 1 });
}

export function useLink(): LinkState {
  return useSyncExternalStore((onChange) => {
    listeners.add(onChange);
    return () => listeners.delete(onChange);
  }, linkState);
}

export function linkState(): LinkState {
  return state;
}

function change(next: LinkState): void {
  state = next;
  for (const listener of listeners) listener();
}

async function probe(): Promise<void> {
  try {
    if ((await fetch('/healthz')).ok) regain('requests');
  } catch {
    // still away
  }
}
