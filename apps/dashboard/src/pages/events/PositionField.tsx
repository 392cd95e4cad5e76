import { useState } from 'react';

interface PositionFieldProps {
  /** events in the log */
  readonly head: number;
  readonly onGo: (position: number) => void;
}

/** To an event that is far down. */
export function PositionField({ head, onGo }: PositionFieldProps) {
  const [text, setText] = useState('');
  return (
    <form
      className="filters position-field"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== '' && head > 0) onGo(Math.min(Number(text), head - 1));
      }}
    >
      <label>
        Go to
        <input
          type="number"
          min={0}
          max={Math.max(0, head - 1)}
          step={1}
          placeholder="position"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
    </form>
  );
}
