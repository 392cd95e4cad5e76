import { Link } from '@tanstack/react-router';
import { AlertBadge } from '../../ui/AlertBadge.js';
import { Panel } from '../../ui/Panel.js';
import { StepLink } from '../links.js';
import { sentence } from '../run/diagnostic-text.js';
import type { Plan } from './queries.js';

interface HealthProps {
  readonly run: string;
  readonly plan: Pick<Plan, 'health' | 'plateauCauses'>;
}

/** What is wrong with the run before anything is spent on it, and what usually helps. */
export function Health({ run, plan: { health, plateauCauses } }: HealthProps) {
  const byDiagnostic = [...Map.groupBy(health, ({ diagnostic }) => diagnostic)];
  return (
    <Panel title="Health" hint={health.length === 0 ? 'nothing is wrong that the diagnostics see' : 'worst first'}>
      {health.length === 0 && plateauCauses.length === 0 && (
        <p>
          The run can be gone on with as it is: no alert is open, and nothing says that the score has stopped rising.
        </p>
      )}
      {plateauCauses.length > 0 && (
        <p className="lacking">The score does not rise any more. The likeliest first: {plateauCauses.join(', ')}.</p>
      )}
      <ul className="advice">
        {byDiagnostic.map(([diagnostic, lines]) => (
          <li key={diagnostic}>
            {lines.map(({ level, rule, says, since }) => (
              <p key={rule} className="advice-line">
                <AlertBadge level={level} />
                <span>
                  <Link to="/runs/$run" params={{ run }} search={{ diagnostic }}>
                    {sentence(says)}
                  </Link>{' '}
                  <span className="hint">
                    Since{' '}
                    <StepLink run={run} step={since}>
                      step {since}
                    </StepLink>
                  </span>
                </span>
              </p>
            ))}
            <p className="hint">What helps: {lines[0].remedy}</p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
