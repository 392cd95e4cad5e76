import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { scatter } from '../../charts/scatter.js';
import type { Brush } from '../../charts/use-brush.js';
import { usePalette } from '../../charts/use-palette.js';
import { graphql, type ResultOf } from '../../graphql.js';
import { said } from '../../said.js';
import { count, counted, credit } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { useAsked } from '../../use-asked.js';
import { areaOf, areaText, leastAgreeing, pointsIn, QUADRANTS, type Quadrant } from './area.js';
import type { Comparison } from './queries.js';

const SampleQuery = graphql(`
  query CreditSample($analysis: ID!, $x: String!, $y: String!) {
    analysis(id: $analysis) {
      id
      creditSample(x: $x, y: $y, points: 1500) {
        sampled
        ofTurns
        shards
        ofShards
        x
        y
        run
        trainingStep
        trajectory
        turn
      }
    }
  }
`);

type Sample = NonNullable<ResultOf<typeof SampleQuery>['analysis']>['creditSample'];

interface TurnPlaneProps {
  readonly analysis: string;
  readonly comparison: Comparison;
}

const FROM = '/analyses/$analysis';
const HEIGHT = 400;

/** Turns by the credit that two estimators give them, and the ones behind a part of that plane. */
export function TurnPlane({ analysis, comparison: { estimators, pairs } }: TurnPlaneProps) {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const ids = estimators.map(({ id }) => id);
  const least = leastAgreeing(ids, pairs);
  const [x, y] = [known(search.x, ids) ?? least?.[0] ?? '', known(search.y, ids) ?? least?.[1] ?? ''];
  const { data, error, again } = useAsked({
    query: SampleQuery,
    variables: { analysis, x, y },
    pause: least === null,
  });
  if (least === null) return null;
  const sample = data?.analysis?.creditSample;
  const go = (change: { readonly x?: string; readonly y?: string; readonly area?: string | undefined }) =>
    void navigate({ search: (old) => said({ ...old, ...change }), replace: true, resetScroll: false });
  const choice = (axis: 'x' | 'y', value: string) => (
    <label className="filters">
      <span className="hint">{axis === 'x' ? 'Across' : 'Up'}</span>
      <select value={value} onChange={({ target }) => go({ [axis]: target.value, area: undefined })}>
        {ids.map((id) => (
          <option key={id} value={id}>
            {visibleText(id)}
          </option>
        ))}
      </select>
    </label>
  );
  const spreadOf = (id: string) => estimators.find((one) => one.id === id)?.std || 1;
  return (
    <Panel
      title="Two estimators, turn by turn"
      hint={sample && sampleText(sample)}
      actions={
        <>
          {choice('x', x)}
          {choice('y', y)}
        </>
      }
    >
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={HEIGHT} />}
      {sample?.x.length === 0 && <Empty title="There is no turn of which both speak" />}
      {sample && sample.x.length > 0 && (
        <Plane
          key={`${x} ${y}`}
          {...{ analysis, sample, x, y }}
          spreads={{ x: spreadOf(x), y: spreadOf(y) }}
          area={search.area}
          onArea={(area) => go({ area })}
        />
      )}
    </Panel>
  );
}

interface PlaneProps {
  readonly analysis: string;
  readonly sample: Sample;
  readonly x: string;
  readonly y: string;
  readonly spreads: { readonly x: number; readonly y: number };
  /** as the address has it */
  readonly area: string | undefined;
  readonly onArea: (area: string | undefined) => void;
}

function Plane({ analysis, sample, x, y, spreads, area: text, onArea }: PlaneProps) {
  const palette = usePalette();
  const columns = useMemo(() => ({ x: Float64Array.from(sample.x), y: Float64Array.from(sample.y) }), [sample]);
  const area = useMemo(() => areaOf(text), [text]);
  const names = [visibleText(x), visibleText(y)] as const;
  const option = useMemo(
    () =>
      scatter(
        {
          ...columns,
          xName: names[0],
          yName: names[1],
          caption: (point) => `${visibleText(sample.trajectory[point])}, turn ${sample.turn[point]}`,
        },
        palette,
      ),
    [columns, names[0], names[1], sample, palette],
  );
  const brush: Brush = {
    axes: 'xy',
    area: area ?? undefined,
    onBrush: (dragged) => onArea(areaText(dragged)),
    onReset: () => onArea(undefined),
  };
  const points = useMemo(() => (area ? pointsIn(columns, area, spreads) : []), [columns, area, spreads.x, spreads.y]);
  return (
    <div className="columns">
      <div>
        <Chart
          option={option}
          height={HEIGHT}
          label={`Credit of ${names[0]} and of ${names[1]}, a point per turn`}
          brush={brush}
        />
        <p className="scale">
          <span>
            <i className="swatch swatch-above" />
            equal signs
          </span>
          <span>
            <i className="swatch swatch-below" />
            opposite signs
          </span>
          <span>
            <i className="swatch swatch-nothing" />
            one says 0
          </span>
        </p>
      </div>
      <div>
        <div className="chips" role="group" aria-label="Part of the plane">
          {QUADRANTS.map((quadrant) => (
            <button
              key={quadrant}
              type="button"
              className="chip"
              aria-pressed={text === quadrant}
              onClick={() => onArea(text === quadrant ? undefined : quadrant)}
            >
              {quadrantText(quadrant, names)}
            </button>
          ))}
          {area && (
            <button type="button" className="chip" onClick={() => onArea(undefined)}>
              clear
            </button>
          )}
        </div>
        {!area && (
          <Empty title="No part of the plane is chosen">
            <p>Drag over points to see the turns behind them, or choose a quadrant.</p>
          </Empty>
        )}
        {area && points.length === 0 && <Empty title="No turn of the sample lies there" />}
        {points.length > 0 && <Turns {...{ analysis, sample, points, names }} />}
      </div>
    </div>
  );
}

const SHOWN = 10;

interface TurnsProps {
  readonly analysis: string;
  readonly sample: Sample;
  readonly points: readonly number[];
  readonly names: readonly [string, string];
}

interface PlanePoint {
  readonly point: number;
}

function Turns({ analysis, sample, points, names }: TurnsProps) {
  const columns: readonly Column<PlanePoint>[] = [
    {
      id: 'turn',
      title: 'Turn',
      cell: ({ point }) => (
        <Link
          to="/runs/$run/trajectories/$trajectory"
          params={{ run: sample.run[point], trajectory: sample.trajectory[point] }}
          search={{ analysis, turn: sample.turn[point] }}
        >
          <Text>{sample.trajectory[point]}</Text>, turn {sample.turn[point]}
        </Link>
      ),
    },
    { id: 'x', title: names[0], align: 'end', cell: ({ point }) => credit(sample.x[point], 2) },
    { id: 'y', title: names[1], align: 'end', cell: ({ point }) => credit(sample.y[point], 2) },
  ];
  return (
    <>
      <p className="hint">
        {counted(points.length, 'turn')} there
        {points.length > SHOWN && `; the ${SHOWN} on which they differ most, in spreads of each`}
      </p>
      <DataTable<PlanePoint>
        label="Turns of that part"
        rows={points.slice(0, SHOWN).map((point) => ({ point }))}
        columns={columns}
        keyOf={({ point }) => String(point)}
      />
    </>
  );
}

function known(id: string | undefined, ids: readonly string[]): string | undefined {
  return id !== undefined && ids.includes(id) ? id : undefined;
}

function sampleText({ sampled, x, ofTurns, shards, ofShards }: Sample): string {
  if (!sampled) return `all ${counted(x.length, 'turn')} of which both speak`;
  const where = shards < ofShards ? ` of ${count(shards)} of the ${count(ofShards)} training steps` : '';
  return `a sample: ${count(x.length)} of ${counted(ofTurns, 'turn')}${where}`;
}

function quadrantText(quadrant: Quadrant, [x, y]: readonly [string, string]): string {
  const [across, up] = quadrant.split('-');
  const sign = (side: string) => (side === 'above' ? '+' : '−');
  return `${x} ${sign(across)}, ${y} ${sign(up)}`;
}
