import { Link, useParams } from '@tanstack/react-router';
import { counted } from '../../text/numbers.js';
import { Head } from '../../ui/Crumbs.js';
import { NoSuchRun } from '../NoSuchRun.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { usePolling } from '../../use-live.js';
import { RunLink } from '../links.js';
import { useLiveQuery } from '../run/live-query.js';
import { useRunHead } from '../run/use-run-head.js';
import { Budget } from './Budget.js';
import { Drops } from './Drops.js';
import { ExportPlan } from './ExportPlan.js';
import { Failures } from './Failures.js';
import { Health } from './Health.js';
import { PlanQuery, type Plan } from './queries.js';
import { Restarts } from './Restarts.js';
import { Starts } from './Starts.js';
import { Tasks } from './Tasks.js';

/** It rests on the diagnostics, which follow the run by some seconds. */
const POLL_MS = 4000;

/** Where the next rollouts of a run would best be spent. Nothing is done by it. */
export function PlanPage() {
  const { run: id } = useParams({ from: '/runs/$run/plan' });
  const head = useRunHead(id);
  const { data, error, again } = useLiveQuery(PlanQuery, { run: id }, head.position);
  const plan = data?.run?.plan;
  usePolling(() => plan && (plan.asOf === null || plan.pendingSteps > 0) && again(), POLL_MS);

  const problem = head.error ?? error;
  if (problem) return <Failure message={problem.message} onRetry={() => (head.again(), again())} />;
  if (head.isAsked && !head.run) {
    return <NoSuchRun />;
  }
  return (
    <>
      <Head title="Plan" crumbs={[<Link to="/runs">Runs</Link>, <RunLink run={id} />]}>
        <span className="hint">{plan ? basisText(plan) : 'where the next rollouts would best be spent'}</span>
        {plan && plan.asOf !== null && <ExportPlan run={id} name={head.run?.name ?? id} />}
      </Head>
      {!plan && <Skeleton height={180} count={4} />}
      {plan && plan.asOf === null && (
        <Empty title="Nothing is measured yet">
          <p>A plan rests on the diagnostics, which follow the training steps by some seconds.</p>
        </Empty>
      )}
      {plan && plan.asOf !== null && (
        <>
          <Health run={id} plan={plan} />
          <Tasks plan={plan} />
          <Budget plan={plan} />
          <Starts run={id} budget={plan.budget} />
          <Restarts run={id} restarts={plan.restarts} />
          <div className="columns columns-even">
            <Drops drops={plan.drop} />
            <Failures run={id} failures={plan.failures} />
          </div>
        </>
      )}
    </>
  );
}

function basisText({ asOf, pendingSteps }: Plan): string {
  if (asOf === null) return 'advice; nothing is done by it';
  const pending = pendingSteps > 0 ? `; ${counted(pendingSteps, 'training step')} not measured yet` : '';
  return `advice from the first ${counted(asOf, 'event')}; nothing is done by it${pending}`;
}
