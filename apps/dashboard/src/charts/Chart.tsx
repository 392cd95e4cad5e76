import { useEffect, useRef } from 'react';
import { connect, init, type ECharts, type EChartsCoreOption } from './echarts.js';
import { useBrush, type Brush } from './use-brush.js';

interface ChartProps {
  readonly option: EChartsCoreOption;
  readonly height: number;
  /** what it shows, for those who do not see it */
  readonly label: string;
  /** charts of one name point at the same place */
  readonly group?: string;
  /** a point or cell was chosen */
  readonly onPick?: (value: readonly number[]) => void;
  readonly brush?: Brush;
}

/** Owns the canvas, its size and its end. */
export function Chart({ option, height, label, group, onPick, brush }: ChartProps) {
  const canvas = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  const { handlers, box, place } = useBrush(chart, brush);
  const placed = useRef(place);
  placed.current = place;

  useEffect(() => {
    const made = init(canvas.current, null, { renderer: 'canvas' });
    chart.current = made;
    if (group !== undefined) {
      made.group = group;
      connect(group);
    }
    made.on('click', ({ value }) => pick.current?.(value as number[]));
    const watcher = new ResizeObserver(() => {
      made.resize();
      placed.current();
    });
    watcher.observe(canvas.current!);
    return () => {
      watcher.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, [group]);

  useEffect(() => {
    chart.current?.setOption(option, { notMerge: true });
    placed.current();
  }, [option, group]);

  return (
    <div className={brush ? 'chart chart-brushed' : 'chart'} {...handlers}>
      <div ref={canvas} role="img" aria-label={label} style={{ height }} />
      {box && <div className="brush" style={box} />}
    </div>
  );
}
