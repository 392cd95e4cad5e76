import { Chart } from '../../charts/Chart.js';
import type { EChartsCoreOption } from '../../charts/echarts.js';
import type { Brush } from '../../charts/use-brush.js';
import { Failure, Skeleton } from '../../ui/Notice.js';

interface CurveFigureProps {
  readonly title: string;
  readonly note: string;
  /** not said: not there yet */
  readonly option: EChartsCoreOption | undefined;
  readonly error: Error | undefined;
  readonly onRetry: () => void;
  readonly label: string;
  readonly brush: Brush;
}

const HEIGHT = 170;

/** A chart of a metric under its name, or what stands in its place. */
export function CurveFigure({ title, note, option, error, onRetry, label, brush }: CurveFigureProps) {
  return (
    <div className="curve">
      <h3>
        {title}
        <span>{note}</span>
      </h3>
      {error ? (
        <Failure message={error.message} onRetry={onRetry} />
      ) : option ? (
        <Chart option={option} height={HEIGHT} label={label} group="curves" brush={brush} />
      ) : (
        <Skeleton height={HEIGHT} />
      )}
    </div>
  );
}
