import { useNavigate, useSearch } from '@tanstack/react-router';
import { graphql } from '../../graphql.js';
import { visibleText } from '../../text/visible-text.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { CurveOfMetric } from './CurveOfMetric.js';
import { byImportance } from './by-importance.js';
import { useLiveQuery } from './live-query.js';

const NamesQuery = graphql(`
  query MetricNames($run: ID!) {
    run(id: $run) {
      id
      trainingSteps(first: 2) {
        edges {
          node {
            trainingStep
            metrics
          }
        }
      }
    }
  }
`);

const SHOWN = 3;

/** The curves chosen in the address, over the training steps. */
export function Curves({ run, position }: { readonly run: string; readonly position: number }) {
  const { curves } = useSearch({ from: '/runs/$run' });
  const navigate = useNavigate({ from: '/runs/$run' });
  const { data, error, again } = useLiveQuery(NamesQuery, { run }, position);
  const steps = data?.run?.trainingSteps.edges.map(({ node }) => node) ?? [];
  const names = [...new Set(steps.flatMap(({ metrics }) => Object.keys(metrics as object)))].sort(byImportance);
  const chosen =
    curves === undefined ? names.slice(0, SHOWN) : names.filter((name) => curves.split(',').includes(name));

  const toggle = (name: string) => {
    const next = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
    void navigate({ search: (old) => ({ ...old, curves: next.join(',') }), replace: true, resetScroll: false });
  };

  return (
    <Panel title="Curves" hint="as the trainer recorded them; ctrl + wheel zooms">
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={200} />}
      {data && names.length === 0 && (
        <Empty title="No metrics recorded">
          <p>
            The trainer sends them once per training step: run.trainingStep(12, {'{'} loss: 0.1 {'}'})
          </p>
        </Empty>
      )}
      {names.length > 0 && (
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
          <div className="curves">
            {chosen.map((name) => (
              <CurveOfMetric key={name} run={run} name={name} color={names.indexOf(name)} position={position} />
            ))}
          </div>
        </>
      )}
    </Panel>
  );
}
