import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { count, decimal } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Head } from '../../ui/Crumbs.js';
import { NoSuchRun } from '../NoSuchRun.js';
import { Figures } from '../../ui/Figures.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { State } from '../../ui/State.js';
import { Text } from '../../ui/Text.js';
import { usePolling } from '../../use-live.js';
import { Annotations } from './Annotations.js';
import { withAnnotations } from './with-annotations.js';
import { CreditChoices } from './CreditChoices.js';
import { CreditMap, mapHeight } from './CreditMap.js';
import { mostDisputed } from './disputed.js';
import { FULL_SPREADS, lanesOf } from './lanes.js';
import { TrajectoryQuery } from './queries.js';
import { shadeOf, tokenShades } from './token-shade.js';
import { TurnList } from './TurnList.js';
import { useTurnKeys } from './use-turn-keys.js';
import { useTurns } from './use-turns.js';
import { useAsked } from '../../use-asked.js';

const FROM = '/runs/$run/trajectories/$trajectory';
const POLL_MS = 2000;
/** An annotation is projected within two seconds. */
const SOON_MS = 700;

/** Every turn as text, with one credit lane per estimator beside it. */
export function TrajectoryPage() {
  const params = useParams({ from: FROM });
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const { data, error, again } = useAsked({
    query: TrajectoryQuery,
    variables: params,
    requestPolicy: 'cache-and-network',
  });
  const { run, trajectory } = data ?? {};
  usePolling(() => trajectory?.state === 'LIVE' && again(), POLL_MS);

  const analyses = useMemo(
    () => (run?.analyses.edges ?? []).map(({ node }) => node).filter(({ comparison }) => comparison !== null),
    [run],
  );
  const analysis = search.analysis ?? analyses[0]?.id;
  const {
    turns: recorded,
    analysis: credited,
    isWhole,
    problem,
  } = useTurns(params.run, params.trajectory, analysis ?? (data ? null : undefined), trajectory?.turnCount);
  const annotations = useMemo(() => trajectory?.annotations.edges.map(({ node }) => node) ?? [], [trajectory]);
  const turns = useMemo(() => withAnnotations(recorded, annotations), [recorded, annotations]);
  const [awaited, setAwaited] = useState<number | null>(null);
  const isAwaiting = awaited !== null && annotations.every(({ position }) => position < awaited);
  usePolling(() => isAwaiting && again(), SOON_MS);
  const shades = useMemo(() => (run ? tokenShades(run, recorded) : { signals: [], credits: [] }), [run, recorded]);
  const shown = useMemo(
    () => ({ annotations, onAnnotated: setAwaited, tokens: shadeOf(search.tokens), analysis: credited }),
    [annotations, search.tokens, credited],
  );
  const lanes = useMemo(() => (run ? lanesOf(run, credited, turns) : []), [run, credited, turns]);
  const isLoading = turns.length === 0 && !isWhole;
  const choose = useCallback(
    (turn: number) => void navigate({ search: (old) => ({ ...old, turn }), replace: true, resetScroll: false }),
    [navigate],
  );
  const disputed = useMemo(() => mostDisputed(turns, lanes), [turns, lanes]);
  useTurnKeys(turns, search.turn, disputed, choose);

  if (error) return <Failure message={error.message} onRetry={again} />;
  if (!data) return <Skeleton height={140} count={4} />;
  if (!run) return <NoSuchRun />;
  if (!trajectory) {
    return (
      <Empty title="There is no such trajectory in this run">
        <Link to="/runs/$run" params={{ run: params.run }}>
          See the run
        </Link>
      </Empty>
    );
  }
  const { success, outcomeReward, turnCount, parent, problems } = trajectory;

  return (
    <>
      <Head
        title={trajectory.id}
        crumbs={[
          <Link to="/runs">Runs</Link>,
          <Link to="/runs/$run" params={{ run: run.id }}>
            <Text>{run.name}</Text>
          </Link>,
          <Link to="/runs/$run/steps/$step" params={{ run: run.id, step: String(trajectory.trainingStep) }}>
            Step {trajectory.trainingStep}
          </Link>,
          <Link
            to="/runs/$run/steps/$step"
            params={{ run: run.id, step: String(trajectory.trainingStep) }}
            search={{ group: trajectory.group }}
          >
            <Text>{trajectory.group}</Text>
          </Link>,
        ]}
      >
        <State state={trajectory.state} />
      </Head>
      <section className="panel">
        <Figures
          figures={[
            { name: 'Success', value: success === null ? '–' : success ? 'yes' : 'no' },
            { name: 'Outcome reward', value: decimal(outcomeReward, 2) },
            { name: 'Turns', value: count(turnCount) },
            ...Object.entries(trajectory.signals as Record<string, unknown>)
              .filter(([, value]) => String(value).length <= 40)
              .slice(0, 4)
              .map(([name, value]) => ({ name: visibleText(name), value: <Text>{String(value)}</Text> })),
          ]}
        />
        {parent && (
          <p className="hint">
            branches off{' '}
            <Link to={FROM} params={{ run: run.id, trajectory: parent.trajectory }}>
              <Text>{parent.trajectory}</Text>
            </Link>{' '}
            after turn {parent.turn}
          </p>
        )}
        {trajectory.annotations.pageInfo.hasNextPage && (
          <p className="lacking">Only the first {count(annotations.length)} annotations are shown.</p>
        )}
        <Annotations turn={null} annotations={annotations} onSaid={setAwaited} />
        {isAwaiting && (
          <p className="hint" role="status">
            Annotated at position {count(awaited)}; it is shown in a moment.
          </p>
        )}
        {problems !== null && <p className="lacking">incomplete: {visibleText(JSON.stringify(problems))}</p>}
      </section>
      <Panel
        title="Credit"
        hint={
          <>
            <kbd>j</kbd> <kbd>k</kbd> next and previous turn, <kbd>d</kbd> the most disputed
          </>
        }
        actions={<CreditChoices {...{ analyses, analysis, shades, disputed }} onPick={choose} />}
      >
        {lanes.length === 0 && isWhole && (
          <Empty title="No credit to show">
            <p>Start an analysis of the run: its estimators then stand beside each turn.</p>
          </Empty>
        )}
        {isLoading && run && <Skeleton height={mapHeight(lanesOf(run, analysis ?? null, []).length)} />}
        {lanes.length > 0 && !isLoading && (
          <>
            <p className="scale">
              <span>
                <i className="swatch swatch-below" />
                below zero
              </span>
              <span>
                <i className="swatch swatch-above" />
                above zero
              </span>
              <span>
                a full lane is {FULL_SPREADS} spreads of its estimator, or the largest value of a truth in the run
              </span>
            </p>
            <CreditMap turns={turns} lanes={lanes} onPick={choose} />
          </>
        )}
      </Panel>
      {problem && <Failure message={problem} />}
      {isLoading && <Skeleton height={190} count={3} />}
      {turns.length === 0 && isWhole && !problem && <Empty title="No turn has been recorded yet" />}
      <TurnList turns={turns} lanes={lanes} chosen={search.turn} shown={shown} />
    </>
  );
}
