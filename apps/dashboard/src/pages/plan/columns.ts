import { percent } from '../../text/numbers.js';
import type { Column } from '../../ui/DataTable.js';

/** What rollouts may be expected to bring. */
interface Expected {
  readonly predicted: number;
  readonly mixed: number;
}

export const PREDICTED: Column<Expected> = {
  id: 'predicted',
  title: 'Chance of success',
  hint: 'What the advice rests on',
  align: 'end',
  cell: ({ predicted }) => percent(predicted),
};

export const MIXED: Column<Expected> = {
  id: 'mixed',
  title: 'Ends both ways',
  hint: 'The chance that so many rollouts bring both a success and a failure',
  align: 'end',
  cell: ({ mixed }) => percent(mixed),
};
