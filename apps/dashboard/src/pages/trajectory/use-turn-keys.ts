import { useEffect } from 'react';
import type { Turn } from './queries.js';

/** j and k go to the next and the previous turn, d to the most disputed one, unless somebody is typing. */
export function useTurnKeys(
  turns: readonly Turn[],
  chosen: number | undefined,
  disputed: number | null,
  choose: (turn: number) => void,
): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === 'd' && disputed !== null) choose(disputed);
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
      if (step === 0 || turns.length === 0) return;
      const at = turns.findIndex(({ index }) => index === chosen);
      const next = at < 0 ? 0 : Math.min(turns.length - 1, Math.max(0, at + step));
      choose(turns[next].index);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [turns, chosen, disputed, choose]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea');
}
