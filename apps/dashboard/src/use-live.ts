import { useEffect, useRef } from 'react';

/** Calls again and again while somebody looks at the page. */
export function usePolling(call: () => void, everyMs: number): void {
  const latest = useRef(call);
  latest.current = call;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** Calls when the value changes, at most once per interval; the last change is never missed. */
export function useOnChange(value: unknown, call: () => void, atMostEveryMs: number): void {
  const latest = useRef(call);
  latest.current = call;
  const seen = useRef(value);
  const calledAt = useRef(0);
  useEffect(() => {
    if (seen.current === value || value === undefined) return undefined;
    const timer = setTimeout(
      () => {
        seen.current = value;
        calledAt.current = Date.now();
        latest.current();
      },
      Math.max(0, calledAt.current + atMostEveryMs - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [value, atMostEveryMs]);
}
