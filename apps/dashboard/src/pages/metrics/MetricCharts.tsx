import type { ReactNode } from 'react';
import type { Brush } from '../../charts/use-brush.js';
import { visibleText } from '../../text/visible-text.js';
import { byImportance } from './by-importance.js';
import { stretchOf, textOf, type StepRange } from './step-range.js';
import { StepFields } from './StepFields.js';

/** What the address says of curves. */
export interface CurvesSearch {
  /** names of metrics, separated by commas; not said: the most important ones */
  readonly curves?: string | undefined;
  /** `10..25`; not said: all training steps */
  readonly steps?: string | undefined;
}

/** What all charts have in common. */
export interface SharedAxis {
  readonly steps: StepRange;
  /** a part of the training steps is looked at */
  readonly isStretch: boolean;
  readonly brush: Brush;
}

interface MetricChartsProps {
  readonly names: Iterable<string>;
  readonly search: CurvesSearch;
  readonly onSearch: (change: CurvesSearch) => void;
  /** the training steps that there are */
  readonly extent: StepRange;
  readonly legend?: ReactNode;
  readonly chart: (name: string, color: number, axis: SharedAxis) => ReactNode;
}

const SHOWN = 3;

/** The metrics that are chosen, each in a chart, over one stretch of training steps that a drag over any of them chooses. */
export function MetricCharts({ names, search, onSearch, extent, legend, chart }: MetricChartsProps) {
  const sorted = [...names].sort(byImportance);
  const wanted = search.curves?.split(',');
  const chosen = wanted === undefined ? sorted.slice(0, SHOWN) : sorted.filter((name) => wanted.includes(name));
  const stretch = stretchOf(search.steps, extent);
  const choose = (steps: StepRange) => onSearch({ steps: textOf(steps, extent) });
  const reset = () => onSearch({ steps: undefined });
  const axis: SharedAxis = {
    steps: stretch ?? extent,
    isStretch: stretch !== undefined,
    brush: { axes: 'x', onBrush: ({ x }) => choose(x), onReset: reset },
  };
  const toggle = (name: string) => {
    const next = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
    onSearch({ curves: next.join(',') });
  };
  return (
    <>
      <div className="curves-head">
        <div className="chips" role="group" aria-label="Metrics to show">
          {sorted.map((name) => (
            <button
              key={name}
              type="button"
              className="chip"
              aria-pressed={chosen.includes(name)}
              onClick={() => toggle(name)}
            >
              {visibleText(name)}
            </button>
          ))}
        </div>
        {extent[0] < extent[1] && (
          <StepFields
            key={axis.steps.join()}
            steps={axis.steps}
            extent={extent}
            onChange={choose}
            onReset={stretch && reset}
          />
        )}
      </div>
      {legend}
      <div className="curves">{chosen.map((name) => chart(name, sorted.indexOf(name), axis))}</div>
    </>
  );
}
