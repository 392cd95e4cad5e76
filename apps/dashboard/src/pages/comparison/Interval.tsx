import type { Estimate } from './truth-measures.js';

const WIDTH = 110;
const HEIGHT = 14;
const RADIUS = 3;
/** A dot is whole at the ends of the scale too. */
const inside = (x: number) => Math.min(WIDTH - RADIUS, Math.max(RADIUS, x));

interface IntervalProps {
  readonly estimate: Estimate;
  /** the scale goes from here to 1; its middle is chance */
  readonly from: number;
  readonly write: (value: number) => string;
  /** of the limits, where it is another way */
  readonly writeLimit?: ((value: number) => string) | undefined;
  /** as a bar too */
  readonly isDrawn: boolean;
}

/** A number with its 90 % interval: in brackets, and on its scale with chance marked. */
export function Interval({ estimate, from, write, writeLimit = write, isDrawn }: IntervalProps) {
  const { value, low, high } = estimate;
  if (value === null) return <>–</>;
  const across = (at: number) => ((at - from) / (1 - from)) * WIDTH;
  const tone = value >= (from + 1) / 2 ? 'above' : 'below';
  const isKnown = low !== null && high !== null;
  return (
    <span className="spark interval-cell">
      <span className="number">{write(value)}</span>
      {isDrawn && (
        <svg className="lane" style={{ width: WIDTH }} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
          <rect className="ground" width={WIDTH} height={HEIGHT} rx="2" />
          <rect className="zero" x={WIDTH / 2 - 0.5} width="1" height={HEIGHT} />
          {isKnown && (
            <rect
              className={tone}
              opacity="0.45"
              x={across(low)}
              y="5"
              width={Math.max(1.5, across(high) - across(low))}
              height="4"
            />
          )}
          <circle className={tone} cx={inside(across(value))} cy={HEIGHT / 2} r={RADIUS} />
        </svg>
      )}
      {isKnown && (
        <small>
          ({writeLimit(low)} to {writeLimit(high)})
        </small>
      )}
    </span>
  );
}
