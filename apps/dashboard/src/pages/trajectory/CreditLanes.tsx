import { Fragment } from 'react';
import { credit } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { shareOf, type Lane } from './lanes.js';
import type { Turn } from './queries.js';

/** One lane per estimator; the line in the middle is zero. */
export function CreditLanes({ turn, lanes }: { readonly turn: Turn; readonly lanes: readonly Lane[] }) {
  return (
    <div className="lanes">
      {lanes.map((lane) => (
        <Fragment key={lane.name}>
          <span className={lane.isTruth ? 'name truth' : 'name'} title={visibleText(lane.name)}>
            {visibleText(lane.name)}
          </span>
          <LaneBar share={shareOf(lane, turn)} />
          <span className="number">{credit(lane.valueOf(turn))}</span>
        </Fragment>
      ))}
    </div>
  );
}

function LaneBar({ share }: { readonly share: number | null }) {
  const width = Math.abs(share ?? 0) * 50;
  return (
    <svg className="lane" viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
      <rect className="ground" width="100" height="14" rx="1" />
      {share !== null && share !== 0 && (
        <rect
          className={share > 0 ? 'above' : 'below'}
          x={share > 0 ? 50 : 50 - width}
          y="2"
          width={width}
          height="10"
        />
      )}
      <rect className="zero" x="49.7" width="0.6" height="14" />
    </svg>
  );
}
