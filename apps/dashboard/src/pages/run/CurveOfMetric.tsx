import { useMemo } from 'react';
import { curveOf, metricCurves } from '../../charts/metric-curves.js';
import { usePalette } from '../../charts/use-palette.js';
import { graphql } from '../../graphql.js';
import { count, counted, decimal } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { CurveFigure } from '../metrics/CurveFigure.js';
import type { SharedAxis } from '../metrics/MetricCharts.js';
import { useLiveQuery } from './live-query.js';

const MetricQuery = graphql(`
  query Metric($run: ID!, $name: String!, $firstStep: Int, $lastStep: Int) {
    run(id: $run) {
      id
      metric(name: $name, points: 800, firstStep: $firstStep, lastStep: $lastStep) {
        sampled
        count
        points {
          trainingStep
          value
        }
      }
    }
  }
`);

interface CurveProps {
  readonly run: string;
  readonly name: string;
  /** which of the palette's */
  readonly color: number;
  readonly axis: SharedAxis;
  readonly position: number;
}

/** A metric of the run; a stretch is asked for anew, so that it shows points that a long curve leaves out. */
export function CurveOfMetric({ run, name, color, axis: { steps, isStretch, brush }, position }: CurveProps) {
  const palette = usePalette();
  const [first, last] = steps;
  const stretch = isStretch ? { firstStep: first, lastStep: last } : {};
  const { data, error, again } = useLiveQuery(MetricQuery, { run, name, ...stretch }, position);
  const metric = data?.run?.metric;
  const title = visibleText(name);
  const option = useMemo(
    () =>
      metric && metricCurves([curveOf(title, metric.points)], { metric: name, palette, color, steps: [first, last] }),
    [metric, title, name, palette, color, first, last],
  );
  return (
    <CurveFigure
      title={title}
      note={metric ? noteOf(metric) : ''}
      option={option}
      error={error}
      onRetry={again}
      label={`${title} over training steps`}
      brush={brush}
    />
  );
}

interface Metric {
  readonly sampled: boolean;
  readonly count: number;
  readonly points: readonly { readonly value: number | null }[];
}

function noteOf({ sampled, count: all, points }: Metric): string {
  const last = `last ${decimal(points.at(-1)?.value)}`;
  return sampled ? `${count(points.length)} of ${counted(all, 'point')}, ${last}` : last;
}
