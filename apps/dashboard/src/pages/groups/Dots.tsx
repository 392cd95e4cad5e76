import { counted } from '../../text/numbers.js';

interface Outcome {
  readonly id: string;
  readonly success: boolean | null;
}

/** One dot per rollout: full where it succeeded, hollow where it failed, grey where nothing is said. */
export function Dots({ outcomes }: { readonly outcomes: readonly Outcome[] }) {
  const successes = outcomes.filter(({ success }) => success === true).length;
  return (
    <span
      className="dots"
      role="img"
      aria-label={`${counted(successes, 'success', 'successes')} of ${outcomes.length}`}
    >
      {outcomes.map(({ id, success }) => (
        <span key={id} className={`dot dot-${success === null ? 'unsaid' : success ? 'success' : 'failure'}`} />
      ))}
    </span>
  );
}
