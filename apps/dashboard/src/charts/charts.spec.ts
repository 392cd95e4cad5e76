import { init, type EChartsCoreOption } from './echarts.js';
import { expect, it } from 'vitest';
import { creditByTurn, lineStyle } from './credit-by-turn.js';
import { heatMap } from './heat-map.js';
import { curveOf, metricCurves } from './metric-curves.js';
import { DARK, LIGHT } from './palette.js';
import { scatter } from './scatter.js';
import { sparkline } from './sparkline.js';

/** As SVG text: what a person would see, without a browser. */
function svgOf(option: EChartsCoreOption): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 400, height: 320 });
  chart.setOption(option);
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

const points = (...values: (number | null)[]) => values.map((value, trainingStep) => ({ trainingStep, value }));

it('draws one path through the points of a metric', () => {
  const svg = svgOf(metricCurves([curveOf('loss', points(2, 1, 0))], { metric: 'loss', palette: LIGHT }));
  expect(svg).toMatch(/<path d="M44 12L215 145.6L386 279.1" [^>]*stroke="#1d4ed8"/);
});

it('leaves a gap where a metric could not be measured', () => {
  const { value } = curveOf('loss', points(2, null, 0));
  expect([...value]).toEqual([2, Number.NaN, 0]);
  const path = (values: (number | null)[]) =>
    svgOf(metricCurves([curveOf('loss', points(...values))], { metric: 'loss', palette: LIGHT })).match(
      /<path d="([^"]+)" [^>]*stroke="#1d4ed8"/,
    )![1];
  expect(path([2, 1, 0, 1]).match(/M/g)).toHaveLength(1);
  expect(path([2, 1, null, 1, 0]).match(/M/g)).toHaveLength(2);
});

it('gives a share its whole scale, and another metric its own', () => {
  const axis = (name: string) =>
    metricCurves([curveOf(name, points(0.4, 0.5))], { metric: name, palette: LIGHT }).yAxis;
  expect(axis('successRate')).toMatchObject({ min: 0, max: 1 });
  expect(axis('loss')).toMatchObject({ scale: true });
});

it('draws the curves of two runs over one axis, with another look each, as far as it is told', () => {
  const curves = [curveOf('a', points(1, 2)), curveOf('b', points(3, 2, 1))];
  const svg = svgOf(metricCurves(curves, { metric: 'loss', palette: LIGHT, steps: [0, 4] }));
  const [, second] = LIGHT.categories
    .slice(0, 2)
    .map((colour) => new RegExp(`<path d="([^"]+)" [^>]*stroke="${colour}"`).exec(svg)?.[1]);
  // 342 pixels for steps 0 to 4: the second curve ends at step 2, half of them
  expect(second).toMatch(/^M44 .*L215 [\d.]+$/);
  expect(svg).toContain('stroke-dasharray="6,3"');
});

it('draws a point per turn, those of opposite signs in the other colour, and both zeros', () => {
  const turns = { x: Float64Array.of(1, 1, -1, 0), y: Float64Array.of(1, -1, -1, -1) };
  const svg = svgOf(scatter({ ...turns, xName: 'grpo', yName: '<b>gae</b>', caption: () => 'a turn' }, LIGHT));
  expect(svg.match(/fill="#1d4ed8"/g)).toHaveLength(2);
  expect(svg.match(/fill="#b34700"/g)).toHaveLength(1);
  expect(svg.match(/<path [^>]*fill="#5a6675"/g)).toHaveLength(1);
  expect(svg).toContain('&lt;b&gt;gae&lt;/b&gt;');
});

it('draws one line per estimator over the turns that there are', () => {
  const profiles = ['a', 'b'].map((estimator) => ({ estimator, mean: Float64Array.of(1, -1) }));
  const { series } = creditByTurn(profiles, Float64Array.of(9, 4), LIGHT) as { series: { name: string }[] };
  expect(series.map(({ name }) => name)).toEqual(['a', 'b', 'turns']);
  expect(svgOf(creditByTurn(profiles, Float64Array.of(9, 4), DARK))).toContain('+1.0');
});

it('gives each of 24 lines another look', () => {
  const looks = Array.from({ length: 24 }, (_, i) => JSON.stringify(lineStyle(i, LIGHT)));
  expect(new Set(looks).size).toBe(24);
});

it('colours cells on one scale, leaves the unsaid empty, and escapes names', () => {
  const map = {
    rows: ['<script>x</script>'],
    columns: ['a', 'b'],
    cells: [{ row: 0, column: 0, share: 1, value: 0.5 }],
    numbers: 11,
    nameWidth: 90,
    caption: () => 'a cell',
  };
  const svg = svgOf(heatMap(map, LIGHT));
  expect(svg).toContain('fill="rgb(29,78,216)"'); // the end of the scale
  expect(svg).not.toContain('<script>');
  expect(svg).toContain('0.50');
});

it('keeps long names of rows apart: both ends of them are there', () => {
  const rows = ['reinforce-plus-plus-baseline', 'reinforce-plus-plus', 'grpo'];
  const svg = svgOf(heatMap({ rows, columns: ['0'], cells: [], numbers: null, nameWidth: 110, caption: () => '' }, LIGHT)); // prettier-ignore
  expect(svg).toContain('>reinfor…seline<');
  expect(svg).toContain('>reinfor…s-plus<');
  expect(svg).toContain('>grpo<');
});

it.each([LIGHT, DARK])('has text that can be read on its ground (WCAG AA)', (palette) => {
  expect(contrast(palette.text, palette.surface)).toBeGreaterThan(7);
  expect(contrast(palette.muted, palette.surface)).toBeGreaterThan(4.5);
  for (const colour of palette.categories) expect(contrast(colour, palette.surface)).toBeGreaterThan(3);
});

it('keeps a sparkline inside its box, with gaps', () => {
  expect(sparkline(Float64Array.of(0, 1, Number.NaN, 2), 30, 12)).toBe('M0.0 11.0L10.0 1.0M30.0 1.0');
  expect(sparkline(new Float64Array(), 30, 12)).toBe('');
});

/** WCAG 2: (L1 + 0.05) / (L2 + 0.05), relative luminance of sRGB. */
function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const share = Number.parseInt(colour.slice(i, i + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
