import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { curveOf, metricCurves } from '../../charts/metric-curves.js';
import { usePalette } from '../../charts/use-palette.js';
import { said } from '../../said.js';
import { visibleText } from '../../text/visible-text.js';
import { Empty } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { useAsked } from '../../use-asked.js';
import { CurveFigure } from '../metrics/CurveFigure.js';
import { MetricCharts, type SharedAxis } from '../metrics/MetricCharts.js';
import { TwoMetricsQuery, type ComparedRun, type Two } from './queries.js';

/** Metrics that both recorded, each in one chart. */
export function CurvesOfTwo({ runs }: { readonly runs: Two }) {
  const search = useSearch({ from: '/compare' });
  const navigate = useNavigate({ from: '/compare' });
  const [first, second] = runs.map(metricNames);
  const names = first.intersection(second);
  return (
    <Panel title="Curves" hint="of the metrics that both recorded; drag over a chart to look at a stretch">
      {names.size === 0 ? (
        <Empty title="They have no metric in common" />
      ) : (
        <MetricCharts
          names={names}
          search={search}
          onSearch={(change) =>
            void navigate({ search: (old) => said({ ...old, ...change }), replace: true, resetScroll: false })
          }
          extent={[
            Math.min(...runs.map(({ trainingSteps }) => trainingSteps.edges[0]?.node.trainingStep ?? 0)),
            Math.max(...runs.map(({ progress }) => progress.lastTrainingStep ?? 0)),
          ]}
          legend={<Legend runs={runs} />}
          chart={(name, _, axis) => <MetricOfTwo key={name} runs={runs} name={name} axis={axis} />}
        />
      )}
    </Panel>
  );
}

function Legend({ runs }: { readonly runs: Two }) {
  const palette = usePalette();
  return (
    <p className="legend">
      {runs.map(({ id, name }, i) => (
        <span key={id}>
          <svg width="26" height="8" aria-hidden="true">
            <line
              x2="26"
              y1="4"
              y2="4"
              stroke={palette.categories[i]}
              strokeWidth="2"
              strokeDasharray={i === 0 ? undefined : '6 3'}
            />
          </svg>
          {visibleText(name)}
        </span>
      ))}
    </p>
  );
}

function metricNames({ trainingSteps }: ComparedRun): Set<string> {
  return new Set(trainingSteps.edges.flatMap(({ node }) => Object.keys(node.metrics as object)));
}

interface MetricOfTwoProps {
  readonly runs: Two;
  readonly name: string;
  readonly axis: SharedAxis;
}

function MetricOfTwo({ runs, name, axis: { steps, isStretch, brush } }: MetricOfTwoProps) {
  const palette = usePalette();
  const [first, last] = steps;
  const stretch = isStretch ? { firstStep: first, lastStep: last } : {};
  const { data, error, again } = useAsked(
    { query: TwoMetricsQuery, variables: { a: runs[0].id, b: runs[1].id, name, ...stretch } },
    { keepsLast: true },
  );
  const option = useMemo(() => {
    const found = [data?.a, data?.b];
    const curves = runs.map((run, i) => curveOf(visibleText(run.name), found[i]?.metric.points ?? []));
    return data && metricCurves(curves, { metric: name, palette, steps: [first, last] });
  }, [data, runs, name, palette, first, last]);
  const title = visibleText(name);
  return (
    <CurveFigure
      title={title}
      note={data?.a?.metric.sampled || data?.b?.metric.sampled ? 'thinned' : ''}
      option={option}
      error={error}
      onRetry={again}
      label={`${title} of both runs over training steps`}
      brush={brush}
    />
  );
}
