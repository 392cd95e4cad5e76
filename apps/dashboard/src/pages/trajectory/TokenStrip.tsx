import { useParams } from '@tanstack/react-router';
import { useMemo, type CSSProperties } from 'react';
import { count, counted, credit, decimal } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Skeleton } from '../../ui/Notice.js';
import { useAsked } from '../../use-asked.js';
import { TokenCreditQuery, TokensQuery } from './queries.js';
import { tokenColumns, type TokenColumn } from './token-columns.js';
import { tokenRange, type TokenRange } from './token-range.js';
import { isSigned, type TokenShade } from './token-shade.js';

/** A turn of more tokens shows its first ones, and says so. */
const SHOWN = 2000;
/** A token near zero is still seen to be there. */
const FAINTEST = 0.12;

/** Of a caption and one row. */
const LOADING_HEIGHT = 50;

interface TokenStripProps {
  /** cursor of the turn before it; null: it is the first */
  readonly after: string | null;
  readonly shade: TokenShade;
  /** whose credit */
  readonly analysis: string | null;
  /** of credit the number that fills a cell, unless a token of the turn has a larger one; null: not known */
  readonly full: number | null;
}

/** The tokens of a turn as a row of cells, by one of their numbers. */
export function TokenStrip({ after, shade, analysis, full }: TokenStripProps) {
  const place = useParams({ from: '/runs/$run/trajectories/$trajectory' });
  const isCredit = shade.of === 'credit' && analysis !== null;
  const logged = useAsked({ query: TokensQuery, variables: { ...place, after } });
  const credited = useAsked({
    query: TokenCreditQuery,
    variables: { ...place, after, analysis: analysis ?? '' },
    pause: !isCredit,
  });
  const error = logged.error ?? credited.error;
  const columns = useMemo(() => tokenColumns(logged.data?.trajectory?.turns.edges[0]?.node.tokens), [logged.data]);
  const said = credited.data?.trajectory?.turns.edges[0]?.node.credit;
  const values = isCredit
    ? said?.find(({ estimator }) => estimator === shade.name)?.tokenCredit
    : columns.get(shade.name);
  const isLoaded = logged.data !== undefined && (!isCredit || credited.data !== undefined);
  if (error) return <p className="lacking">Tokens could not be loaded: {error.message}</p>;
  if (!isLoaded) {
    return (
      <div className="tokens">
        <Skeleton height={LOADING_HEIGHT} />
      </div>
    );
  }
  if (!values || values.length === 0) return <p className="hint tokens-none">no {visibleText(shade.name)} per token</p>;
  return <Cells shade={shade} values={values} mask={columns.get('mask')} full={full} />;
}

interface CellsProps {
  readonly shade: TokenShade;
  readonly values: TokenColumn;
  /** 0: training leaves the token out */
  readonly mask: TokenColumn | undefined;
  readonly full: number | null;
}

function Cells({ shade, values, mask, full: wanted }: CellsProps) {
  const range = tokenRange(values, mask);
  const full = Math.max(Math.abs(range?.low ?? 0), Math.abs(range?.high ?? 0), wanted ?? 0) || 1;
  const signed = isSigned(shade);
  const write = signed ? credit : decimal;
  const words = `${shade.of === 'credit' ? 'credit of ' : ''}${visibleText(shade.name)}`;
  return (
    <figure className="tokens">
      <figcaption className="hint">
        {counted(values.length, 'token')} by {words}
        {range && `: ${rangeText(range, write)}`}
        {range && range.counted < values.length && `, of the ${count(range.counted)} that are trained on`}
        {signed && `; a full bar is ${decimal(full)}`}
        {values.length > SHOWN && `; the first ${count(SHOWN)} are shown`}
      </figcaption>
      <div className="token-cells" role="img" aria-label={`${counted(values.length, 'token')} by ${words}`}>
        {values.slice(0, SHOWN).map((value, i) => {
          const isOut = mask?.[i] === 0;
          const share = value === null ? 0 : Math.min(1, Math.abs(value) / full);
          return (
            <span
              key={i}
              className={cellClass(value, signed, isOut)}
              style={signed ? ({ '--share': share } as CSSProperties) : { opacity: opacityOf(value, share) }}
              title={`token ${i}: ${write(value)}${isOut ? ', not trained on' : ''}`}
            />
          );
        })}
      </div>
    </figure>
  );
}

function rangeText({ low, high, mean }: TokenRange, write: (value: number) => string): string {
  return low === high ? write(low) : `${write(low)} to ${write(high)}, mean ${write(mean)}`;
}

function opacityOf(value: number | null, share: number): number {
  return value === null ? 1 : FAINTEST + (1 - FAINTEST) * share;
}

/** Signed ones are bars on a line that is zero; the others are shaded. */
function cellClass(value: number | null, signed: boolean, isOut: boolean): string {
  const classes = ['token', signed ? 'token-bar' : 'token-shade'];
  if (value !== null) classes.push(value < 0 ? 'token-below' : 'token-above');
  if (isOut) classes.push('token-out');
  return classes.join(' ');
}
