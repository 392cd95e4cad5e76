/** Colours of a theme, as charts need them: a canvas knows no CSS variables. The same values stand in styles/tokens.css. */
export interface Palette {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly surface: string;
  /** credit below zero, zero, above: orange to blue, which all kinds of colour vision tell apart */
  readonly diverging: readonly [string, string, string, string, string];
  /** one per estimator or curve; neighbours differ in lightness too */
  readonly categories: readonly string[];
}

export const LIGHT: Palette = {
  text: '#1c2430',
  muted: '#5a6675',
  line: '#e3e7ed',
  surface: '#ffffff',
  diverging: ['#b34700', '#f2b27c', '#f4f5f7', '#8db8ee', '#1d4ed8'],
  categories: ['#1d4ed8', '#c2500a', '#0b7a5e', '#8f2f86', '#8a6a00', '#2b8fc0', '#5c5f6b', '#d0417e'],
};

export const DARK: Palette = {
  text: '#e7ebf1',
  muted: '#9aa6b5',
  line: '#2a323e',
  surface: '#161c25',
  diverging: ['#ff9a4d', '#8a5228', '#232b36', '#2c539c', '#74a7ff'],
  categories: ['#74a7ff', '#ff9a4d', '#43c59e', '#d68ad0', '#d9b84a', '#6fc7ee', '#b3bac6', '#ff86b3'],
};
