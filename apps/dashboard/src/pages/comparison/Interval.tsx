import { credit } from '../../text/numbers.js';
import type { Truth } from './queries.js';

const WIDTH = 110;
const HEIGHT = 14;
const across = (value: number) => ((value + 1) / 2) * WIDTH;

/** A rank correlation with its 90 % interval, on a scale of −1 to 1 with zero marked. */
export function Interval({ truth }: { readonly truth: Truth | undefined }) {
  if (!truth || truth.spearman === null) return <>–</>;
  const { spearman, low, high } = truth;
  const said = low === null || high === null ? '' : `${credit(low, 2)} to ${credit(high, 2)}`;
  return (
    <span className="spark" title={said && `90 % interval: ${said}`}>
      <span className="number">{credit(spearman)}</span>
      <svg className="lane" style={{ width: WIDTH }} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        <rect className="ground" width={WIDTH} height={HEIGHT} rx="2" />
        <rect className="zero" x={WIDTH / 2 - 0.5} width="1" height={HEIGHT} />
        {low !== null && high !== null && (
          <rect
            className={spearman >= 0 ? 'above' : 'below'}
            opacity="0.45"
            x={across(low)}
            y="5"
            width={Math.max(1.5, across(high) - across(low))}
            height="4"
          />
        )}
        <circle className={spearman >= 0 ? 'above' : 'below'} cx={across(spearman)} cy={HEIGHT / 2} r="3" />
      </svg>
      {said && <small>{said}</small>}
    </span>
  );
}
