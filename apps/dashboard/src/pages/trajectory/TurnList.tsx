import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { Lane } from './lanes.js';
import type { Turn } from './queries.js';
import { TurnCard, type TurnsShown } from './TurnCard.js';

/** Below the bar that stays at the top. */
const TOP_ROOM = 60;

interface TurnListProps {
  readonly turns: readonly Turn[];
  readonly lanes: readonly Lane[];
  readonly chosen: number | undefined;
  readonly shown: TurnsShown;
}

/** Only the turns near the screen exist, so that a thousand of them scroll as well as ten. */
export function TurnList({ turns, lanes, chosen, shown }: TurnListProps) {
  const box = useRef<HTMLDivElement>(null);
  const list = useWindowVirtualizer({
    count: turns.length,
    estimateSize: () => Math.max(190, 60 + 24 * lanes.length),
    overscan: 4,
    scrollMargin: box.current?.offsetTop ?? 0,
    scrollPaddingStart: TOP_ROOM,
  });
  const place = turns.findIndex(({ index }) => index === chosen);
  useEffect(() => {
    if (place >= 0) list.scrollToIndex(place, { align: 'start' });
    // only when another turn is chosen: what is measured later must not move the page
  }, [place, list]);

  return (
    <div ref={box} style={{ position: 'relative', height: list.getTotalSize() }}>
      {list.getVirtualItems().map(({ index, key, start }) => (
        <div
          key={key}
          ref={list.measureElement}
          data-index={index}
          className="turn-row"
          style={{
            position: 'absolute',
            insetInline: 0,
            transform: `translateY(${start - list.options.scrollMargin}px)`,
          }}
        >
          <TurnCard
            turn={turns[index]}
            lanes={lanes}
            isChosen={turns[index].index === chosen}
            shown={shown}
            before={turns[index - 1]?.cursor ?? null}
          />
        </div>
      ))}
    </div>
  );
}
