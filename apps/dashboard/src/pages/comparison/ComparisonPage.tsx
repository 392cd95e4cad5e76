import { Link, useParams } from '@tanstack/react-router';
import { ago, count, counted, decimal, percent } from '../../text/numbers.js';
import { Head } from '../../ui/Crumbs.js';
import { Figures } from '../../ui/Figures.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { State } from '../../ui/State.js';
import { Text } from '../../ui/Text.js';
import { LiveProgress } from '../analysis/LiveProgress.js';
import { Annotators } from './Annotators.js';
import { RunLink } from '../links.js';
import { Disputed } from './Disputed.js';
import { EstimatorTable } from './EstimatorTable.js';
import { GradientTable } from './GradientTable.js';
import { PairMatrix } from './PairMatrix.js';
import { Stability } from './Stability.js';
import { TagTable } from './TagTable.js';
import { TruthTable } from './TruthTable.js';
import { TurnPlane } from './TurnPlane.js';
import { TurnProfiles } from './TurnProfiles.js';
import { AnalysisQuery, type Analysis } from './queries.js';
import { useAsked } from '../../use-asked.js';

export function ComparisonPage() {
  const { analysis: id } = useParams({ from: '/analyses/$analysis' });
  const { data, error, again } = useAsked({
    query: AnalysisQuery,
    variables: { analysis: id },
    requestPolicy: 'cache-and-network',
  });
  const analysis = data?.analysis;
  const run = analysis?.runs[0]?.run;

  if (error) return <Failure message={error.message} onRetry={again} />;
  if (!data) return <Skeleton height={120} count={4} />;
  if (!analysis || !run) {
    return (
      <Empty title="There is no such analysis among those you see">
        <Link to="/runs">See all runs</Link>
      </Empty>
    );
  }
  const { comparison, state, estimators, failure, runs, shards } = analysis;
  const isUnderWay = state === 'PLANNING' || state === 'RUNNING';
  const failures = estimators.flatMap(({ label, failures }) => failures.map((failure) => ({ label, ...failure })));
  const lacking = estimators.filter(({ inputsMissing }) => inputsMissing.length > 0);

  return (
    <>
      <Head
        title={`Comparison of ${estimators.length} estimators`}
        crumbs={[<Link to="/runs">Runs</Link>, <RunLink run={run} />]}
      >
        <State state={state} />
        <span className="hint">
          {ago(analysis.createdAt, Date.now())}, as of event {count(runs[0]?.asOf)}
          {runs.length > 1 && `, with ${runs.length - 1} more runs`}
          {statesText(analysis.stateIdentity)}
        </span>
      </Head>
      {isUnderWay && (
        <section className="panel">
          <LiveProgress analysis={id} onEnd={again} />
        </section>
      )}
      {failure && <Failure message={failure} />}
      {(lacking.length > 0 || failures.length > 0 || shards.edges.length > 0) && (
        <Panel title="What is missing">
          {lacking.map(({ label, inputsMissing }) => (
            <p key={label} className="lacking">
              {label}: {inputsMissing.map(missingText).join(', ')}
            </p>
          ))}
          {failures.map(({ label, reason, shards }) => (
            <p key={`${label} ${reason}`} className="lacking">
              {label} failed in {counted(shards, 'shard')}: <Text>{reason}</Text>
            </p>
          ))}
          {shards.edges.map(({ node }) => (
            <p key={`${node.run} ${node.trainingStep}`} className="lacking">
              {runs.length > 1 && (
                <>
                  <RunLink run={node.run} />,{' '}
                </>
              )}
              step {node.trainingStep} failed: <Text>{node.reason ?? 'no reason given'}</Text>
            </p>
          ))}
          {shards.pageInfo.hasNextPage && <p className="hint">and more steps that failed</p>}
        </Panel>
      )}
      {!comparison && !isUnderWay && <Empty title="There is nothing to compare: no estimator said anything" />}
      {!comparison && isUnderWay && <Skeleton height={180} count={2} />}
      {comparison && (
        <>
          <section className="panel">
            <Figures
              figures={[
                { name: 'Trajectories', value: count(comparison.trajectories) },
                { name: 'Turns', value: count(comparison.turns) },
                {
                  name: 'Groups with a signal',
                  value: `${count(comparison.groupsWithSignal)} of ${count(comparison.groups)}`,
                },
                { name: 'Success rate', value: percent(comparison.successRate) },
                { name: 'Mean outcome reward', value: decimal(comparison.meanOutcome) },
                {
                  name: 'Rank statistics from',
                  value: comparison.sample.sampled ? counted(comparison.sample.turns, 'turn') : 'all turns',
                  ...(comparison.sample.sampled && { note: `a sample of ${count(comparison.sample.ofTurns)}` }),
                },
              ]}
            />
          </section>
          <EstimatorTable {...{ comparison, analysis }} />
          <TruthTable comparison={comparison} />
          <Annotators annotators={comparison.annotators} />
          <div className="columns">
            <TurnProfiles estimators={comparison.estimators} />
            <PairMatrix comparison={comparison} />
          </div>
          <TurnPlane analysis={id} comparison={comparison} />
          <div className="columns columns-even">
            <Stability estimators={comparison.estimators} />
            <GradientTable estimators={comparison.estimators} />
          </div>
          <Disputed analysis={id} comparison={comparison} />
          <TagTable analysis={id} comparison={comparison} />
        </>
      )}
    </>
  );
}

type Missing = Analysis['estimators'][number]['inputsMissing'][number];

function missingText({ path, rows, of, recordedAs }: Missing): string {
  const instead = recordedAs === null ? '' : ` (the run carries ${recordedAs}: was that meant?)`;
  return of === 0
    ? `${path}, which no row carries${instead}`
    : `${path} on ${count(rows)} of ${counted(of, 'row')}${instead}`;
}

/** Nothing where states are the same as they were recorded. */
function statesText({ by, threshold, excludeGeneric }: Analysis['stateIdentity']): string {
  const kind = by === 'LAST_OBSERVATION' ? '' : `; states are the same by ${by.toLowerCase().replaceAll('_', ' ')}`;
  return `${kind}${threshold === null ? '' : ` from ${threshold}`}${excludeGeneric ? '; generic states set apart' : ''}`;
}
