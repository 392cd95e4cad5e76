import { useEffect, useRef, useState } from 'react';

/**
 * What stands in a field, told when nobody has typed for a while. Another value from outside replaces it.
 *
 * @returns what stands there, and what to call when somebody types
 */
export function useTyped(value: string, tell: (value: string) => void, afterMs: number) {
  const [typed, setTyped] = useState(value);
  const latest = useRef(tell);
  latest.current = tell;
  const told = useRef(value);
  if (told.current !== value) {
    told.current = value;
    setTyped(value);
  }
  useEffect(() => {
    if (typed === told.current) return undefined;
    const timer = setTimeout(() => {
      told.current = typed;
      latest.current(typed);
    }, afterMs);
    return () => clearTimeout(timer);
  }, [typed, afterMs]);
  return [typed, setTyped] as const;
}
