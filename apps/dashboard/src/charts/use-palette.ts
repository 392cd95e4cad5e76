import { useSyncExternalStore } from 'react';
import { DARK, LIGHT, type Palette } from './palette.js';

const dark = matchMedia('(prefers-color-scheme: dark)');
const narrow = matchMedia('(max-width: 600px)');

/** Of the theme that the person has chosen for the system. */
export function usePalette(): Palette {
  return useMatches(dark) ? DARK : LIGHT;
}

/** A telephone, about. */
export function useIsNarrow(): boolean {
  return useMatches(narrow);
}

function useMatches(query: MediaQueryList): boolean {
  return useSyncExternalStore(
    (onChange) => {
      query.addEventListener('change', onChange);
      return () => query.removeEventListener('change', onChange);
    },
    () => query.matches,
  );
}
