/** A stretch of the horizontal axis, or a rectangle, in the units of the axes. */
export interface Area {
  readonly x: readonly [low: number, high: number];
  readonly y: readonly [low: number, high: number];
}

/** What is drawn while somebody drags, in pixels of the chart. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

type Point = readonly [x: number, y: number];

/** A drag of fewer pixels was a click. */
const LEAST_DRAG = 5;

/** Whether so much was dragged that it is meant. */
export function isDrag([x, y]: Point, [toX, toY]: Point, axes: 'x' | 'xy'): boolean {
  const [across, down] = [Math.abs(toX - x), Math.abs(toY - y)];
  return axes === 'x' ? across >= LEAST_DRAG : across >= LEAST_DRAG && down >= LEAST_DRAG;
}

/** The rectangle between two corners, whichever came first. */
export function areaBetween([x, y]: Point, [toX, toY]: Point): Area {
  return { x: [Math.min(x, toX), Math.max(x, toX)], y: [Math.min(y, toY), Math.max(y, toY)] };
}

/** The same in pixels, cut to the grid of the chart; one of the horizontal axis alone is as high as the grid. */
export function boxOf({ x, y }: Area, grid: Box, axes: 'x' | 'xy'): Box {
  const [left, right] = cut(x, grid.left, grid.left + grid.width);
  const [top, bottom] = axes === 'x' ? [grid.top, grid.top + grid.height] : cut(y, grid.top, grid.top + grid.height);
  return { left, top, width: right - left, height: bottom - top };
}

function cut([low, high]: readonly [number, number], from: number, to: number): readonly [number, number] {
  const within = (value: number) => Math.min(to, Math.max(from, value));
  return [within(low), within(high)];
}

export function contains({ x, y }: Area, [atX, atY]: Point): boolean {
  return atX >= x[0] && atX <= x[1] && atY >= y[0] && atY <= y[1];
}
