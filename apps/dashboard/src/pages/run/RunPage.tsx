import { Link, useParams } from '@tanstack/react-router';
import { useSubscription } from 'urql';
import { graphql } from '../../graphql.js';
import { Head } from '../../ui/Crumbs.js';
import { NoSuchRun } from '../NoSuchRun.js';
import { Figures } from '../../ui/Figures.js';
import { Failure, Skeleton } from '../../ui/Notice.js';
import { State } from '../../ui/State.js';
import { ago, count, counted, decimal, percent } from '../../text/numbers.js';
import { Analyses } from './Analyses.js';
import { Audits } from './Audits.js';
import { Curves } from './Curves.js';
import { Diagnostics } from './Diagnostics.js';
import { Signals } from './Signals.js';
import { TrainingSteps } from './TrainingSteps.js';
import { useAsked } from '../../use-asked.js';

const ProgressFields = graphql(`
  fragment RunHead on RunProgress @_unmask {
    state
    position
    lastTrainingStep
    trajectoryCount
    incompleteCount
    turnCount
    groupCount
    successRate
    meanOutcomeReward
    lastEventAt
  }
`);

const RunQuery = graphql(
  `
    query Run($run: ID!) {
      run(id: $run) {
        id
        name
        project
        progress {
          ...RunHead
        }
      }
    }
  `,
  [ProgressFields],
);

const AdvancedSubscription = graphql(
  `
    subscription RunAdvanced($run: ID!) {
      runAdvanced(run: $run) {
        position
        progress {
          ...RunHead
        }
      }
    }
  `,
  [ProgressFields],
);

export function RunPage() {
  const { run: id } = useParams({ from: '/runs/$run' });
  const { data, error, again } = useAsked({ query: RunQuery, variables: { run: id } });
  const run = data?.run;
  const [live] = useSubscription({
    query: AdvancedSubscription,
    variables: { run: id },
    pause: !run,
  });
  const progress = live.data?.runAdvanced.progress ?? run?.progress;

  if (error) return <Failure message={error.message} onRetry={again} />;
  if (data && !run) return <NoSuchRun />;
  if (!run || !progress) return <Skeleton height={96} count={4} />;
  const steps = progress.lastTrainingStep === null ? 0 : progress.lastTrainingStep + 1;
  const position = progress.position;

  return (
    <>
      <Head title={run.name} crumbs={[<Link to="/runs">Runs</Link>, <span>{run.project}</span>]}>
        <State state={progress.state} />
        <nav className="filters head-link" aria-label="More of this run">
          <Link className="button" to="/runs/$run/plan" params={{ run: run.id }}>
            Plan
          </Link>
          <Link className="button" to="/runs/$run/events" params={{ run: run.id }}>
            Event log
          </Link>
        </nav>
        {live.error && <span className="lacking">not live: {live.error.message}</span>}
      </Head>
      <section className="panel">
        <Figures
          figures={[
            { name: 'Training steps', value: count(steps) },
            { name: 'Groups', value: count(progress.groupCount) },
            {
              name: 'Trajectories',
              value: count(progress.trajectoryCount),
              ...(progress.incompleteCount > 0 && {
                note: counted(progress.incompleteCount, 'incomplete', 'incomplete'),
              }),
            },
            { name: 'Turns', value: count(progress.turnCount) },
            { name: 'Success rate', value: percent(progress.successRate) },
            { name: 'Mean outcome reward', value: decimal(progress.meanOutcomeReward) },
            { name: 'Last event', value: ago(progress.lastEventAt, Date.now()) },
          ]}
        />
      </section>
      <Curves run={run.id} position={position} lastStep={progress.lastTrainingStep} />
      <Diagnostics run={run.id} position={position} />
      <div className="columns">
        <Analyses run={run.id} position={position} />
        <Audits run={run.id} position={position} />
      </div>
      <div className="columns columns-even">
        <TrainingSteps run={run.id} position={position} />
        <Signals run={run.id} position={position} />
      </div>
    </>
  );
}
