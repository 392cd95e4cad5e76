import { useEffect, useRef } from 'react';
import { init, type ECharts, type EChartsCoreOption } from './echarts.js';

interface ChartProps {
  readonly option: EChartsCoreOption;
  readonly height: number;
  /** what it shows, for those who do not see it */
  readonly label: string;
  /** a point or cell was chosen */
  readonly onPick?: (value: readonly number[]) => void;
}

/** Owns the canvas, its size and its end. */
export function Chart({ option, height, label, onPick }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  const pick = useRef(onPick);
  pick.current = onPick;

  useEffect(() => {
    const made = init(box.current, null, { renderer: 'canvas' });
    chart.current = made;
    made.on('click', ({ value }) => pick.current?.(value as number[]));
    const watcher = new ResizeObserver(() => made.resize());
    watcher.observe(box.current!);
    return () => {
      watcher.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, []);

  useEffect(() => {
    chart.current?.setOption(option, { notMerge: true });
  }, [option]);

  return <div ref={box} role="img" aria-label={label} style={{ height }} />;
}
