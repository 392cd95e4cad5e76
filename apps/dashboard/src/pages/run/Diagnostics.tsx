import { graphql } from '../../graphql.js';
import { count, decimal } from '../../text/numbers.js';
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
        title
        question
        reading
        values
        evidence {
          trainingStep
          note
        }
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
      {data?.run?.diagnostics.length === 0 && <p className="hint">Nothing is measured yet.</p>}
      {data?.run?.diagnostics.map(({ id, asOf, title, question, reading, values, evidence }) => (
        <div key={id} className="analysis">
          <p>{sentence(visibleText(reading))}</p>
          <details>
            <summary>{title}: evidence</summary>
            <p className="hint">
              {question} {id}, over the first {count(asOf)} events.
            </p>
            <ul className="hint">
              {evidence.map(({ trainingStep, note }) => (
                <li key={`${trainingStep} ${note}`}>
                  training step {count(trainingStep)}: {visibleText(note)}
                </li>
              ))}
              {Object.entries(values as Record<string, number | null>).map(([name, value]) => (
                <li key={name}>
                  {words(name)}: {Number.isInteger(value) ? count(value) : decimal(value)}
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
