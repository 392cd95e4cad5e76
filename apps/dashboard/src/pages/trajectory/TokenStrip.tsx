import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { count, counted, decimal } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { TokensQuery } from './queries.js';
import { tokenColumns, type TokenColumn } from './token-columns.js';
import { useAsked } from '../../use-asked.js';

/** A turn of more tokens shows its first ones, and says so. */
const SHOWN = 2000;
/** A token near zero is still seen to be there. */
const FAINTEST = 0.12;

interface TokenStripProps {
  /** cursor of the turn before it; null: it is the first */
  readonly after: string | null;
  /** which number shades them */
  readonly column: string;
}

/** The tokens of a turn as a row of cells, shaded by one of their numbers. */
export function TokenStrip({ after, column }: TokenStripProps) {
  const { run, trajectory } = useParams({ from: '/runs/$run/trajectories/$trajectory' });
  const { data, error, isStale } = useAsked({ query: TokensQuery, variables: { run, trajectory, after } });
  const tokens = data?.trajectory?.turns.edges[0]?.node.tokens;
  const values = useMemo(() => tokenColumns(tokens).get(column), [tokens, column]);
  if (error) return <p className="lacking">Tokens could not be loaded: {error.message}</p>;
  if (!values)
    return <p className="hint tokens-none">{isStale ? 'tokens …' : `no ${visibleText(column)} per token`}</p>;
  return <Cells name={column} values={values} />;
}

function Cells({ name, values }: { readonly name: string; readonly values: TokenColumn }) {
  const said = values.filter((value) => value !== null);
  const low = said.reduce((least, value) => Math.min(least, value), Infinity);
  const high = said.reduce((most, value) => Math.max(most, value), -Infinity);
  const full = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const mean = said.reduce((sum, value) => sum + value, 0) / said.length;
  const words = visibleText(name);
  return (
    <figure className="tokens">
      <figcaption className="hint">
        {counted(values.length, 'token')} by {words}
        {said.length > 0 && `: ${decimal(low)} to ${decimal(high)}, mean ${decimal(mean)}`}
        {values.length > SHOWN && `; the first ${count(SHOWN)} are shown`}
      </figcaption>
      <div className="token-cells" role="img" aria-label={`${counted(values.length, 'token')}, shaded by ${words}`}>
        {values.slice(0, SHOWN).map((value, i) => (
          <span
            key={i}
            className={value === null ? 'token' : value < 0 ? 'token token-below' : 'token token-above'}
            style={{ opacity: value === null ? 1 : FAINTEST + (1 - FAINTEST) * (Math.abs(value) / full) }}
            title={`token ${i}: ${decimal(value)}`}
          />
        ))}
      </div>
    </figure>
  );
}
