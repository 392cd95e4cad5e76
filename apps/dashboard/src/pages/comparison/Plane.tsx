import { useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { scatter } from '../../charts/scatter.js';
import type { Brush } from '../../charts/use-brush.js';
import { usePalette } from '../../charts/use-palette.js';
import { visibleText } from '../../text/visible-text.js';
import { Empty } from '../../ui/Notice.js';
import { areaOf, areaText, pointsIn, QUADRANTS, type Quadrant } from './area.js';
import type { Sample } from './credit-sample.js';
import { PlaneTurns } from './PlaneTurns.js';

export const PLANE_HEIGHT = 400;

interface PlaneProps {
  readonly analysis: string;
  readonly sample: Sample;
  readonly x: string;
  readonly y: string;
  readonly spreads: { readonly x: number; readonly y: number };
  /** as the address has it */
  readonly area: string | undefined;
  readonly onArea: (area: string | undefined) => void;
}

/** The points, what is chosen of them, and the turns behind that. */
export function Plane({ analysis, sample, x, y, spreads, area: text, onArea }: PlaneProps) {
  const palette = usePalette();
  const columns = useMemo(() => ({ x: Float64Array.from(sample.x), y: Float64Array.from(sample.y) }), [sample]);
  const area = useMemo(() => areaOf(text), [text]);
  const names = [visibleText(x), visibleText(y)] as const;
  const option = useMemo(
    () =>
      scatter(
        {
          ...columns,
          xName: names[0],
          yName: names[1],
          caption: (point) => `${visibleText(sample.trajectory[point])}, turn ${sample.turn[point]}`,
        },
        palette,
      ),
    [columns, names[0], names[1], sample, palette],
  );
  const brush: Brush = {
    axes: 'xy',
    area: area ?? undefined,
    onBrush: (dragged) => onArea(areaText(dragged)),
    onReset: () => onArea(undefined),
  };
  const points = useMemo(() => (area ? pointsIn(columns, area, spreads) : []), [columns, area, spreads.x, spreads.y]);
  return (
    <div className="columns">
      <div>
        <Chart
          option={option}
          height={PLANE_HEIGHT}
          label={`Credit of ${names[0]} and of ${names[1]}, a point per turn`}
          brush={brush}
        />
        <p className="scale">
          <span>
            <i className="swatch swatch-above" />
            equal signs
          </span>
          <span>
            <i className="swatch swatch-below" />
            opposite signs
          </span>
          <span>
            <i className="swatch swatch-nothing" />
            one says 0
          </span>
        </p>
      </div>
      <div>
        <div className="chips" role="group" aria-label="Part of the plane">
          {QUADRANTS.map((quadrant) => (
            <button
              key={quadrant}
              type="button"
              className="chip"
              aria-pressed={text === quadrant}
              onClick={() => onArea(text === quadrant ? undefined : quadrant)}
            >
              {quadrantText(quadrant, names)}
            </button>
          ))}
          {area && (
            <button type="button" className="chip" onClick={() => onArea(undefined)}>
              clear
            </button>
          )}
        </div>
        {!area && (
          <Empty title="No part of the plane is chosen">
            <p>Drag over points to see the turns behind them, or choose a quadrant.</p>
          </Empty>
        )}
        {area && points.length === 0 && <Empty title="No turn of the sample lies there" />}
        {points.length > 0 && <PlaneTurns {...{ analysis, sample, points, names }} />}
      </div>
    </div>
  );
}

function quadrantText(quadrant: Quadrant, [x, y]: readonly [string, string]): string {
  const [across, up] = quadrant.split('-');
  const sign = (side: string) => (side === 'above' ? '+' : '−');
  return `${x} ${sign(across)}, ${y} ${sign(up)}`;
}
