import { useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { curveOf, metricCurve } from '../../charts/metric-curve.js';
import { usePalette } from '../../charts/use-palette.js';
import { graphql } from '../../graphql.js';
import { count, decimal } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Failure, Skeleton } from '../../ui/Notice.js';
import { useLiveQuery } from './live-query.js';

const MetricQuery = graphql(`
  query Metric($run: ID!, $name: String!) {
    run(id: $run) {
      id
      metric(name: $name, points: 800) {
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

const HEIGHT = 170;

interface CurveProps {
  readonly run: string;
  readonly name: string;
  /** which of the palette's */
  readonly color: number;
  readonly position: number;
}

export function CurveOfMetric({ run, name, color, position }: CurveProps) {
  const palette = usePalette();
  const { data, error, again } = useLiveQuery(MetricQuery, { run, name }, position);
  const metric = data?.run?.metric;
  const option = useMemo(
    () =>
      metric &&
      metricCurve(
        curveOf(visibleText(name), metric.points),
        palette,
        palette.categories[color % palette.categories.length],
      ),
    [metric, name, palette, color],
  );
  return (
    <div className="curve">
      <h3>
        {visibleText(name)}
        <span>
          {metric?.sampled
            ? `${count(metric.points.length)} of ${count(metric.count)} points`
            : metric && `last ${decimal(metric.points.at(-1)?.value)}`}
        </span>
      </h3>
      {error ? (
        <Failure message={error.message} onRetry={again} />
      ) : option ? (
        <Chart option={option} height={HEIGHT} label={`${visibleText(name)} over training steps`} group="curves" />
      ) : (
        <Skeleton height={HEIGHT} />
      )}
    </div>
  );
}
