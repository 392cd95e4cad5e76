import { useNavigate, useSearch } from '@tanstack/react-router';
import { graphql } from '../../graphql.js';
import { said } from '../../said.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { MetricCharts } from '../metrics/MetricCharts.js';
import { CurveOfMetric } from './CurveOfMetric.js';
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

interface CurvesProps {
  readonly run: string;
  readonly position: number;
  readonly lastStep: number | null;
}

/** The curves chosen in the address, over the training steps. */
export function Curves({ run, position, lastStep }: CurvesProps) {
  const search = useSearch({ from: '/runs/$run' });
  const navigate = useNavigate({ from: '/runs/$run' });
  const { data, error, again } = useLiveQuery(NamesQuery, { run }, position);
  const steps = data?.run?.trainingSteps.edges.map(({ node }) => node) ?? [];
  const names = new Set(steps.flatMap(({ metrics }) => Object.keys(metrics as object)));
  const first = steps[0]?.trainingStep ?? 0;

  return (
    <Panel title="Curves" hint="as the trainer recorded them; drag over a chart to look at a stretch of all of them">
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={236} />}
      {data && names.size === 0 && (
        <Empty title="No metrics recorded">
          <p>
            The trainer sends them once per training step: run.trainingStep(12, {'{'} loss: 0.1 {'}'})
          </p>
        </Empty>
      )}
      {names.size > 0 && (
        <MetricCharts
          names={names}
          search={search}
          onSearch={(change) =>
            void navigate({ search: (old) => said({ ...old, ...change }), replace: true, resetScroll: false })
          }
          extent={[first, Math.max(first, lastStep ?? 0)]}
          chart={(name, color, axis) => (
            <CurveOfMetric key={name} run={run} name={name} color={color} axis={axis} position={position} />
          )}
        />
      )}
    </Panel>
  );
}
