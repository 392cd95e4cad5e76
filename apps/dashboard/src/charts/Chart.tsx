import { useEffect, useRef } from 'react';
import { connect, init, type ECharts, type EChartsCoreOption } from './echarts.js';

interface ChartProps {
  readonly option: EChartsCoreOption;
  readonly height: number;
  /** what it shows, for those who do not see it */
  readonly label: string;
  /** charts of one name show the same stretch of the axis, and point at the same place */
  readonly group?: string;
  /** a point or cell was chosen */
  readonly onPick?: (value: readonly number[]) => void;
}

interface Zoomed {
  readonly dataZoom?: readonly { readonly start: number; readonly end: number }[];
}

/** Owns the canvas, its size and its end. */
export function Chart({ option, height, label, group, onPick }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  const pick = useRef(onPick);
  pick.current = onPick;

  useEffect(() => {
    const made = init(box.current, null, { renderer: 'canvas' });
    chart.current = made;
    if (group !== undefined) {
      made.group = group;
      connect(group);
    }
    made.on('click', ({ value }) => pick.current?.(value as number[]));
    const watcher = new ResizeObserver(() => made.resize());
    watcher.observe(box.current!);
    return () => {
      watcher.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, [group]);

  useEffect(() => {
    const made = chart.current;
    if (!made) return;
    const [zoom] = (made.getOption() as Zoomed | undefined)?.dataZoom ?? [];
    made.setOption(option, { notMerge: true });
    // new data of a live run must not undo what somebody zoomed to
    if (zoom && (zoom.start > 0 || zoom.end < 100)) {
      made.dispatchAction({ type: 'dataZoom', start: zoom.start, end: zoom.end });
    }
  }, [option, group]);

  return <div ref={box} role="img" aria-label={label} style={{ height }} />;
}
