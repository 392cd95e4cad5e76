import { sparkline } from '../charts/sparkline.js';

const WIDTH = 96;
const HEIGHT = 24;

/** Values of 0 to 1 as a small line. What it shows stands beside it as a number. */
export function Sparkline({ values }: { readonly values: Float64Array }) {
  return (
    <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path d={sparkline(values, WIDTH, HEIGHT)} fill="none" stroke="currentColor" strokeWidth="1.5" />
    </svg>
  );
}
