import { BarChart, HeatmapChart, LineChart } from 'echarts/charts';
import {
  AxisPointerComponent,
  DatasetComponent,
  DataZoomInsideComponent,
  GridComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapContinuousComponent,
} from 'echarts/components';
import { use } from 'echarts/core';
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers';

/** ECharts with the parts that our charts need; the SVG renderer is what specs read. */
use([
  LineChart,
  BarChart,
  HeatmapChart,
  GridComponent,
  TooltipComponent,
  AxisPointerComponent,
  DatasetComponent,
  DataZoomInsideComponent,
  MarkLineComponent,
  VisualMapContinuousComponent,
  CanvasRenderer,
  SVGRenderer,
]);

export { connect, init, type ECharts, type EChartsCoreOption } from 'echarts/core';
