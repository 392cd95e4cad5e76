import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { curveOf } from '../../charts/metric-curve.js';
import { twoCurves } from '../../charts/two-curves.js';
import { usePalette } from '../../charts/use-palette.js';
import { visibleText } from '../../text/visible-text.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { byImportance } from '../run/by-importance.js';
import { TwoMetricsQuery, type ComparedRun } from './queries.js';
import { useAsked } from '../../use-asked.js';

type Two = readonly [ComparedRun, ComparedRun];

const SHOWN = 3;
const HEIGHT = 180;

/** Metrics that both recorded, each in one chart. */
export function CurvesOfTwo({ runs }: { readonly runs: Two }) {
  const { curves } = useSearch({ from: '/compare' });
  const navigate = useNavigate({ from: '/compare' });
  const palette = usePalette();
  const [first, second] = runs.map(metricNames);
  const names = [...first.intersection(second)].sort(byImportance);
  const chosen =
    curves === undefined ? names.slice(0, SHOWN) : names.filter((name) => curves.split(',').includes(name));
  const toggle = (name: string) => {
    const next = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
    void navigate({ search: (old) => ({ ...old, curves: next.join(',') }), replace: true, resetScroll: false });
  };
  return (
    <Panel title="Curves" hint="of the metrics that both recorded">
      {names.length === 0 ? (
        <Empty title="They have no metric in common" />
      ) : (
        <>
          <div className="chips" role="group" aria-label="Metrics to show">
            {names.map((name) => (
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
          <div className="curves">
            {chosen.map((name) => (
              <MetricOfTwo key={name} runs={runs} name={name} />
            ))}
          </div>
        </>
      )}
    </Panel>
  );
}

function metricNames({ trainingSteps }: ComparedRun): Set<string> {
  return new Set(trainingSteps.edges.flatMap(({ node }) => Object.keys(node.metrics as object)));
}

function MetricOfTwo({ runs, name }: { readonly runs: Two; readonly name: string }) {
  const palette = usePalette();
  const { data, error, again } = useAsked({
    query: TwoMetricsQuery,
    variables: { a: runs[0].id, b: runs[1].id, name },
  });
  const option = useMemo(() => {
    const found = [data?.a, data?.b];
    const curves = runs.map((run, i) => curveOf(visibleText(run.name), found[i]?.metric.points ?? []));
    return data && twoCurves(curves, /rate|share|success/i.test(name), palette);
  }, [data, runs, name, palette]);
  return (
    <div className="curve">
      <h3>
        {visibleText(name)}
        {(data?.a?.metric.sampled || data?.b?.metric.sampled) && <span>thinned</span>}
      </h3>
      {error ? (
        <Failure message={error.message} onRetry={again} />
      ) : option ? (
        <Chart option={option} height={HEIGHT} label={`${visibleText(name)} of both runs over training steps`} />
      ) : (
        <Skeleton height={HEIGHT} />
      )}
    </div>
  );
}
