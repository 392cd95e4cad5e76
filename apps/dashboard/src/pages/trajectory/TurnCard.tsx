import { Link } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { decimal } from '../../text/numbers.js';
import { messagesOf, type ToolCall } from '../../text/message.js';
import { visibleText } from '../../text/visible-text.js';
import { Text } from '../../ui/Text.js';
import { Annotations } from './Annotations.js';
import { CreditLanes } from './CreditLanes.js';
import type { Lane } from './lanes.js';
import type { AnnotationOfTrajectory, Turn } from './queries.js';
import type { TokenShade } from './token-shade.js';
import { TokenStrip } from './TokenStrip.js';

/** Longer texts are cut until somebody asks for them: one of a megabyte must not hold up the page. */
const SHOWN_CHARACTERS = 2000;

interface TurnCardProps {
  readonly turn: Turn;
  readonly lanes: readonly Lane[];
  readonly isChosen: boolean;
  /** what the whole list shares */
  readonly shown: TurnsShown;
  /** cursor of the turn before it */
  readonly before: string | null;
}

/** What is shown with every turn. */
export interface TurnsShown {
  readonly annotations: readonly AnnotationOfTrajectory[];
  readonly onAnnotated: (position: number) => void;
  /** what shades the tokens; not said: they are not asked for */
  readonly tokens: TokenShade | undefined;
  /** whose credit the lanes have; null: they have none */
  readonly analysis: string | null;
}

/** One turn: what the agent saw, what it did, and what each estimator makes of it. */
export function TurnCard({ turn, lanes, isChosen, shown, before }: TurnCardProps) {
  const signals = Object.entries((turn.signals ?? {}) as Record<string, unknown>).filter(
    ([name]) => !lanes.some((lane) => lane.isTruth && lane.name === name),
  );
  return (
    <article className={isChosen ? 'turn turn-chosen' : 'turn'} aria-label={`Turn ${turn.index}`}>
      <header className="turn-head">
        <Link
          to="/runs/$run/trajectories/$trajectory"
          from="/runs/$run/trajectories/$trajectory"
          search={(old) => ({ ...old, turn: turn.index })}
          replace
          resetScroll={false}
        >
          Turn {turn.index}
        </Link>
        <span className="hint">reward {decimal(turn.reward, 2)}</span>
        <span className="signals">
          {signals.map(([name, value]) => (
            <span key={name}>
              {visibleText(name)} {typeof value === 'number' ? decimal(value) : visibleText(String(value))}
            </span>
          ))}
        </span>
      </header>
      <div className="turn-text">
        {messagesOf(turn.state).map(({ role, text, calls }, i) => (
          <div key={i}>
            <h4>{role === null ? 'State' : visibleText(role)}</h4>
            {text !== '' && <Said text={text} className="said" />}
            <ToolCalls calls={calls} />
          </div>
        ))}
        <h4>Action</h4>
        {messagesOf(turn.action).map(({ text, calls }, i) => (
          <Fragment key={i}>
            {text !== '' && <Said text={text} className="said said-action" />}
            <ToolCalls calls={calls} />
          </Fragment>
        ))}
        {shown.tokens !== undefined && (
          <TokenStrip
            after={before}
            shade={shown.tokens}
            analysis={shown.analysis}
            full={lanes.find(({ name, isTruth }) => !isTruth && name === shown.tokens?.name)?.full ?? null}
          />
        )}
        <Annotations turn={turn.index} annotations={shown.annotations} onSaid={shown.onAnnotated} />
      </div>
      {lanes.length > 0 && <CreditLanes turn={turn} lanes={lanes} />}
    </article>
  );
}

const SHORT = 60;

/** Each in one line, until somebody wants to see all of it. */
function ToolCalls({ calls }: { readonly calls: readonly ToolCall[] }) {
  return calls.map(({ name, input }, i) => {
    const line = input.replaceAll(/\s+/g, ' ');
    return (
      <details key={i} className="tool-call">
        <summary>
          <code>
            <Text>{name}</Text>(<Text>{line.length > SHORT ? `${line.slice(0, SHORT)}…` : line}</Text>)
          </code>
        </summary>
        <Said text={input} className="said said-action" />
      </details>
    );
  });
}

function Said({ text, className }: { readonly text: string; readonly className: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > SHOWN_CHARACTERS;
  return (
    <div className={className}>
      <Text>{isLong && !isWhole ? text.slice(0, SHOWN_CHARACTERS) : text}</Text>
      {isLong && (
        <>
          {isWhole ? ' ' : '… '}
          <button type="button" className="chip" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'show less' : `show all ${text.length.toLocaleString('en')} characters`}
          </button>
        </>
      )}
    </div>
  );
}
