import { useState } from 'react';
import type { StepRange } from './step-range.js';

interface StepFieldsProps {
  readonly steps: StepRange;
  readonly extent: StepRange;
  readonly onChange: (steps: StepRange) => void;
  /** not said: all of them are looked at */
  readonly onReset: (() => void) | undefined;
}

/** The stretch of training steps in numbers, for those who know it or drag nothing. */
export function StepFields({ steps, extent: [first, last], onChange, onReset }: StepFieldsProps) {
  const [from, setFrom] = useState(String(steps[0]));
  const [to, setTo] = useState(String(steps[1]));
  const isChanged = from !== String(steps[0]) || to !== String(steps[1]);
  return (
    <form
      className="filters step-fields"
      aria-label="Training steps to show"
      onSubmit={(event) => {
        event.preventDefault();
        onChange([Number(from), Number(to)]);
      }}
    >
      <label>
        Steps
        <input
          type="number"
          required
          min={first}
          max={last - 1}
          value={from}
          onChange={({ target }) => setFrom(target.value)}
        />
      </label>
      <label>
        to
        <input
          type="number"
          required
          min={Math.max(first, Number(from)) + 1}
          max={last}
          value={to}
          onChange={({ target }) => setTo(target.value)}
        />
      </label>
      {isChanged && <button>Show</button>}
      {!isChanged && onReset && (
        <button type="button" onClick={onReset}>
          Show all
        </button>
      )}
    </form>
  );
}
