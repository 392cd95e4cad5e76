import { graphql } from '../../graphql.js';
import { count } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { useLiveQuery } from './live-query.js';

const DiagnosticsQuery = graphql(`
  query Diagnostics($run: ID!) {
    run(id: $run) {
      id
      diagnostics {
        id
        asOf
        reading
        detail
      }
    }
  }
`);

/** Measured sentences about the run, with the numbers behind them. */
export function Diagnostics({ run, position }: { readonly run: string; readonly position: number }) {
  const { data, error, again } = useLiveQuery(DiagnosticsQuery, { run }, position);
  return (
    <Panel title="Diagnostics">
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={44} />}
      {data?.run?.diagnostics.map(({ id, asOf, reading, detail }) => (
        <div key={id} className="analysis">
          <p>{sentence(reading)}</p>
          <details>
            <summary>Evidence</summary>
            <p className="hint">
              {id}, over the first {count(asOf)} events
            </p>
            <ul className="hint">
              {Object.entries(detail as Record<string, unknown>).map(([name, value]) => (
                <li key={name}>
                  {words(name)}: {typeof value === 'number' ? count(value) : visibleText(String(value))}
                </li>
              ))}
            </ul>
          </details>
        </div>
      ))}
    </Panel>
  );
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
const words = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
