import { useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { creditByTurn, lineStyle } from '../../charts/credit-by-turn.js';
import { usePalette } from '../../charts/use-palette.js';
import { visibleText } from '../../text/visible-text.js';
import { Panel } from '../../ui/Panel.js';
import type { Profile } from './queries.js';
import { turnProfiles } from './turn-profiles.js';

const HEIGHT = 312;

/** Where in a trajectory each estimator puts its credit. */
export function TurnProfiles({ estimators }: { readonly estimators: readonly Profile[] }) {
  const palette = usePalette();
  const { profiles, turns } = useMemo(() => turnProfiles(estimators), [estimators]);
  const option = useMemo(() => creditByTurn(profiles, turns, palette), [profiles, turns, palette]);
  return (
    <Panel title="Credit by turn index" hint="mean, in spreads of the estimator; below, how many turns have that index">
      <p className="legend">
        {profiles.map(({ estimator }, i) => {
          const { color, dash } = lineStyle(i, palette);
          return (
            <span key={estimator}>
              <svg width="22" height="4" aria-hidden="true">
                <line
                  x2="22"
                  y1="2"
                  y2="2"
                  stroke={color}
                  strokeWidth="3"
                  strokeDasharray={dash === 'solid' ? undefined : dash.join(' ')}
                />
              </svg>
              {visibleText(estimator)}
            </span>
          );
        })}
      </p>
      <Chart option={option} height={HEIGHT} label="Mean credit by turn index, one line per estimator" />
    </Panel>
  );
}
