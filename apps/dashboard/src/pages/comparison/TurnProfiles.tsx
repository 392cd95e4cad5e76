import { useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { creditByTurn } from '../../charts/credit-by-turn.js';
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
        {profiles.map(({ estimator }, i) => (
          <span key={estimator}>
            <svg width="22" height="4" aria-hidden="true">
              <line
                x1="0"
                x2="22"
                y1="2"
                y2="2"
                stroke={palette.categories[i % palette.categories.length]}
                strokeWidth="3"
                strokeDasharray={['', '6 3', '2 3'][Math.floor(i / 3) % 3]}
              />
            </svg>
            {visibleText(estimator)}
          </span>
        ))}
      </p>
      <Chart option={option} height={HEIGHT} label="Mean credit by turn index, one line per estimator" />
    </Panel>
  );
}
