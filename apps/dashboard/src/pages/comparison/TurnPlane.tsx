import { useNavigate, useSearch } from '@tanstack/react-router';
import { said } from '../../said.js';
import { count, counted } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Choice } from '../../ui/Choice.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { useAsked } from '../../use-asked.js';
import { leastAgreeing } from './area.js';
import { SampleQuery, type Sample } from './credit-sample.js';
import { Plane, PLANE_HEIGHT } from './Plane.js';
import type { Comparison } from './queries.js';

interface TurnPlaneProps {
  readonly analysis: string;
  readonly comparison: Comparison;
}

const FROM = '/analyses/$analysis';

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
    <Choice
      label={axis === 'x' ? 'Across' : 'Up'}
      value={value}
      options={ids.map((id) => ({ value: id, title: visibleText(id) }))}
      onChoose={(id) => go({ [axis]: id, area: undefined })}
    />
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
      {!data && !error && <Skeleton height={PLANE_HEIGHT} />}
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

function known(id: string | undefined, ids: readonly string[]): string | undefined {
  return id !== undefined && ids.includes(id) ? id : undefined;
}

function sampleText({ sampled, x, ofTurns, shards, ofShards }: Sample): string {
  if (!sampled) return `all ${counted(x.length, 'turn')} of which both speak`;
  const where = shards < ofShards ? ` of ${count(shards)} of the ${count(ofShards)} training steps` : '';
  return `a sample: ${count(x.length)} of ${counted(ofTurns, 'turn')}${where}`;
}
