import { Link } from '@tanstack/react-router';
import { graphql, type ResultOf } from '../../graphql.js';
import { counted } from '../../text/numbers.js';
import { AlertBadge } from '../../ui/AlertBadge.js';
import { Text } from '../../ui/Text.js';
import { StepLink } from '../links.js';
import { sentence, valueText, wordsOf } from './diagnostic-text.js';

export const AlertFields = graphql(`
  fragment AlertItem on Alert @_unmask {
    id
    diagnostic
    level
    says
    saw
    openedStep
    closedStep
  }
`);

type Alert = ResultOf<typeof AlertFields>;

const RANK = { CRITICAL: 0, WARN: 1, INFO: 2 } as const;

interface AlertsProps {
  readonly run: string;
  readonly open: readonly Alert[];
  readonly closed: readonly Alert[];
  /** closed ones, before these */
  readonly wereMore: boolean;
  /** of diagnostics, by id */
  readonly titles: ReadonlyMap<string, { readonly title: string; readonly remedy: string }>;
}

/** What is beyond its threshold now, the worst diagnostic first; below it what was. */
export function Alerts({ run, open, closed, wereMore, titles }: AlertsProps) {
  const byDiagnostic = [...Map.groupBy(open.toSorted(worstFirst), ({ diagnostic }) => diagnostic)];
  return (
    <div className="alerts">
      {byDiagnostic.length > 0 && (
        <ul aria-label="Open alerts">
          {byDiagnostic.map(([diagnostic, alerts]) => (
            <li key={diagnostic} className={`alert alert-${alerts[0].level.toLowerCase()}`}>
              <p className="alert-title">
                <Link
                  to="/runs/$run"
                  params={{ run }}
                  search={(old) => ({ ...old, diagnostic })}
                  replace
                  resetScroll={false}
                >
                  {titles.get(diagnostic)?.title ?? diagnostic}
                </Link>
                <span className="hint">{titles.get(diagnostic)?.remedy}</span>
              </p>
              {alerts.map((alert) => (
                <AlertLine key={alert.id} run={run} alert={alert} />
              ))}
            </li>
          ))}
        </ul>
      )}
      {closed.length > 0 && (
        <details>
          <summary>
            {wereMore && 'the last '}
            {counted(closed.length, 'closed alert')}
          </summary>
          <ul>
            {closed.map((alert) => (
              <li key={alert.id} className="alert">
                <AlertLine run={run} alert={alert} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function worstFirst(a: Alert, b: Alert): number {
  return RANK[a.level] - RANK[b.level] || a.openedStep - b.openedStep;
}

function AlertLine({ run, alert }: { readonly run: string; readonly alert: Alert }) {
  const { level, says, saw, openedStep, closedStep } = alert;
  return (
    <div className="alert-line">
      <AlertBadge level={level} />
      <p>
        <Text>{sentence(says)}</Text>{' '}
        <span className="hint">
          {closedStep === null ? 'Since ' : 'From '}
          <StepLink run={run} step={openedStep}>
            step {openedStep}
          </StepLink>
          {closedStep !== null && (
            <>
              {' to '}
              <StepLink run={run} step={closedStep}>
                step {closedStep}
              </StepLink>
            </>
          )}
          {': '}
          {Object.entries(saw as Record<string, number>)
            .map(([name, value]) => `${wordsOf(name)} ${valueText(name, value)}`)
            .join(', ')}
        </span>
      </p>
    </div>
  );
}
