import { useSyncExternalStore } from 'react';
import { DARK, LIGHT, type Palette } from './palette.js';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Of the theme that the person has chosen for the system. */
export function usePalette(): Palette {
  return useSyncExternalStore(subscribe, () => (dark.matches ? DARK : LIGHT));
}

function subscribe(onChange: () => void) {
  dark.addEventListener('change', onChange);
  return () => dark.removeEventListener('change', onChange);
}
