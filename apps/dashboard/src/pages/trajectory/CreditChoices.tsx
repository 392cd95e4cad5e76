import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ago } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { without } from '../../without.js';
import type { RunOfTrajectory } from './queries.js';
import { shadeOf, shadeText, type TokenShade, type TokenShades } from './token-shade.js';

const FROM = '/runs/$run/trajectories/$trajectory';

interface CreditChoicesProps {
  readonly analyses: readonly RunOfTrajectory['analyses']['edges'][number]['node'][];
  readonly analysis: string | undefined;
  readonly shades: TokenShades;
  /** null: no two estimators have opposite signs */
  readonly disputed: number | null;
  readonly onPick: (turn: number) => void;
}

/** Whose credit is shown, and what the tokens are shaded by. */
export function CreditChoices({ analyses, analysis, shades, disputed, onPick }: CreditChoicesProps) {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const chosen = shadeOf(search.tokens);
  const isKnown = chosen && shades[chosen.of === 'credit' ? 'credits' : 'signals'].includes(chosen.name);
  const option = (shade: TokenShade) => (
    <option key={shadeText(shade)} value={shadeText(shade)}>
      {visibleText(shade.name)}
    </option>
  );
  return (
    <span className="filters">
      {disputed !== null && (
        <button type="button" onClick={() => onPick(disputed)}>
          Most disputed turn
        </button>
      )}
      {(chosen || shades.signals.length + shades.credits.length > 0) && (
        <label>
          Tokens
          <select
            value={search.tokens ?? ''}
            onChange={({ target: { value } }) =>
              void navigate({
                search: (old) => (value ? { ...old, tokens: value } : without(old, 'tokens')),
                replace: true,
                resetScroll: false,
              })
            }
          >
            <option value="">hidden</option>
            {chosen && !isKnown && option(chosen)}
            {shades.credits.length > 0 && (
              <optgroup label="Credit">{shades.credits.map((name) => option({ of: 'credit', name }))}</optgroup>
            )}
            {shades.signals.length > 0 && (
              <optgroup label="Logged">{shades.signals.map((name) => option({ of: 'signal', name }))}</optgroup>
            )}
          </select>
        </label>
      )}
      {analyses.length > 0 && (
        <label>
          Analysis
          <select
            value={analysis}
            onChange={({ target }) =>
              void navigate({ search: (old) => ({ ...old, analysis: target.value }), resetScroll: false })
            }
          >
            {analyses.map(({ id, createdAt, estimators }) => (
              <option key={id} value={id}>
                {estimators.length} estimators, {ago(createdAt, Date.now())}
              </option>
            ))}
          </select>
        </label>
      )}
      {analysis && (
        <Link className="button" to="/analyses/$analysis" params={{ analysis }}>
          Comparison
        </Link>
      )}
    </span>
  );
}
