import { useCallback, useEffect, useRef, useState, type PointerEvent, type RefObject } from 'react';
import { areaBetween, boxOf, isDrag, type Area, type Box } from './brush.js';
import type { ECharts } from './echarts.js';

/** What somebody may drag over a chart. */
export interface Brush {
  /** 'x': a stretch of the horizontal axis */
  readonly axes: 'x' | 'xy';
  /** what stays marked; not said: nothing */
  readonly area?: Area | undefined;
  readonly onBrush: (area: Area) => void;
  /** by a double click */
  readonly onReset: () => void;
}

type Point = readonly [x: number, y: number];

const GRID = { gridIndex: 0 };

/** Turns dragging by mouse or pen into areas in the units of the axes. A finger scrolls the page. */
export function useBrush(chart: RefObject<ECharts | null>, brush: Brush | undefined) {
  const from = useRef<Point | null>(null);
  const [dragged, setDragged] = useState<Box | null>(null);
  const [marked, setMarked] = useState<Box | null>(null);

  /** After every drawing: what stays marked lies where its numbers are now. */
  const place = useCallback(() => {
    const made = chart.current;
    setMarked(made && brush?.area ? boxOf(inPixels(made, brush.area), gridOf(made), brush.axes) : null);
  }, [chart, brush]);
  useEffect(place, [place]);

  const handlers = brush && {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0 || event.pointerType === 'touch') return;
      from.current = pointOf(event);
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const [start, made] = [from.current, chart.current];
      if (!start || !made) return;
      const to = pointOf(event);
      setDragged(isDrag(start, to, brush.axes) ? boxOf(areaBetween(start, to), gridOf(made), brush.axes) : null);
    },
    onPointerUp: (event: PointerEvent<HTMLElement>) => {
      const [start, made] = [from.current, chart.current];
      from.current = null;
      setDragged(null);
      if (!start || !made) return;
      const to = pointOf(event);
      if (isDrag(start, to, brush.axes)) brush.onBrush(areaBetween(inUnits(made, start), inUnits(made, to)));
    },
    onPointerCancel: () => {
      from.current = null;
      setDragged(null);
    },
    onDoubleClick: brush.onReset,
  };
  return { handlers, box: dragged ?? marked, place };
}

function pointOf({ clientX, clientY, currentTarget }: PointerEvent<HTMLElement>): Point {
  const { left, top } = currentTarget.getBoundingClientRect();
  return [clientX - left, clientY - top];
}

function inUnits(chart: ECharts, at: Point): Point {
  const [x, y] = chart.convertFromPixel(GRID, [...at]);
  return [x, y];
}

function inPixels(chart: ECharts, { x, y }: Area): Area {
  const at = (point: number[]) => chart.convertToPixel(GRID, point) as unknown as Point;
  return areaBetween(at([x[0], y[0]]), at([x[1], y[1]]));
}

interface Model {
  getModel(): {
    getComponent(name: string): {
      coordinateSystem: { getRect(): { x: number; y: number; width: number; height: number } };
    };
  };
}

/** Where the axes lie. */
function gridOf(chart: ECharts): Box {
  const { x, y, width, height } = (chart as unknown as Model)
    .getModel()
    .getComponent('grid')
    .coordinateSystem.getRect();
  return { left: x, top: y, width, height };
}
