import { useParams } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { useMutation } from 'urql';
import { mayAnalyze, useSession } from '../../session.js';
import { ago } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Text } from '../../ui/Text.js';
import { AnnotateMutation, type AnnotationOfTrajectory } from './queries.js';
import { refusalText } from '../../text/refusal.js';

interface AnnotationsProps {
  /** null: of the trajectory itself */
  readonly turn: number | null;
  readonly annotations: readonly AnnotationOfTrajectory[];
  /** tells at which position it stands */
  readonly onSaid: (position: number) => void;
}

/** Who said what of a turn, in the order they said it, and a form to say something. */
export function Annotations({ turn, annotations, onSaid }: AnnotationsProps) {
  const { session } = useSession();
  const [isSaying, setSaying] = useState(false);
  const said = annotations.filter((one) => one.turn === turn);
  if (said.length === 0 && !mayAnalyze(session)) return null;
  return (
    <div className="annotations">
      {said.map(({ position, annotator, signals, rationale, failure, recordedAt }, i) => (
        <p key={`${position} ${i}`}>
          {Object.entries(signals as Record<string, unknown>).map(([name, value]) => (
            <span key={name} className="annotation">
              <Text>{name}</Text> <b>{visibleText(typeof value === 'string' ? value : JSON.stringify(value))}</b>
            </span>
          ))}
          <span className="hint">
            by <Text>{annotator}</Text>
            {recordedAt && `, ${ago(recordedAt, Date.now())}`}
            {rationale && (
              <>
                : <Text>{rationale}</Text>
              </>
            )}
          </span>
          {failure && <span className="lacking"> failed: {visibleText(failure)}</span>}
        </p>
      ))}
      {mayAnalyze(session) && (
        <button type="button" className="chip" aria-expanded={isSaying} onClick={() => setSaying(!isSaying)}>
          {isSaying ? 'Close' : said.length > 0 ? 'Annotate again' : 'Annotate'}
        </button>
      )}
      {isSaying && (
        <AnnotationForm
          turn={turn}
          onSaid={(position) => {
            setSaying(false);
            onSaid(position);
          }}
        />
      )}
    </div>
  );
}

const LABELS = [
  [1, 'good'],
  [0, 'neutral'],
  [-1, 'bad'],
] as const;
const HUMAN_LABEL = 'humanLabel';
/** In the browser, so that nobody writes their name twice. */
const NAME = 'recredit-annotator';

interface AnnotationFormProps {
  readonly turn: number | null;
  readonly onSaid: (position: number) => void;
}

function AnnotationForm({ turn, onSaid }: AnnotationFormProps) {
  const { run, trajectory } = useParams({ from: '/runs/$run/trajectories/$trajectory' });
  const [{ fetching, error }, annotate] = useMutation(AnnotateMutation);
  const [annotator, setAnnotator] = useState(() => localStorage.getItem(NAME) ?? '');
  const [signal, setSignal] = useState(HUMAN_LABEL);
  const [value, setValue] = useState('');
  const names = useId();
  const say = async (said: number) => {
    localStorage.setItem(NAME, annotator);
    const input = { run, trajectory, turn, annotator, signals: { [signal]: said } };
    const { data } = await annotate({ input });
    if (data) onSaid(data.annotate);
  };
  const isLabel = signal === HUMAN_LABEL;
  const canSay = annotator.trim() !== '' && signal !== '' && !fetching;
  return (
    <form
      className="filters annotation-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isLabel && value !== '') void say(Number(value));
      }}
    >
      <label>
        Your name
        <input value={annotator} required maxLength={100} onChange={({ target }) => setAnnotator(target.value)} />
      </label>
      <label>
        Signal
        <input value={signal} required list={names} onChange={({ target }) => setSignal(target.value.trim())} />
        <datalist id={names}>
          {[HUMAN_LABEL, 'judgeLabel', 'processReward', 'judgeScore'].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      {isLabel ? (
        <span className="labels" role="group" aria-label="Label">
          {LABELS.map(([label, word]) => (
            <button key={label} type="button" disabled={!canSay} onClick={() => void say(label)}>
              {word}
            </button>
          ))}
        </span>
      ) : (
        <>
          <label>
            Value
            <input type="number" step="any" required value={value} onChange={({ target }) => setValue(target.value)} />
          </label>
          <button disabled={!canSay || value === ''}>Save</button>
        </>
      )}
      {error && (
        <p className="lacking" role="alert">
          {refusalText(error)}
        </p>
      )}
    </form>
  );
}
