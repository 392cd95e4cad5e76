import { credit, decimal, percent } from '../../text/numbers.js';
import type { Measure } from './truth-measures.js';

interface Scale {
  readonly from: number;
  readonly write: (value: number) => string;
  readonly writeLimit?: (value: number) => string;
}

const SHARE: Scale = {
  from: 0,
  write: (value) => percent(value, 0),
  writeLimit: (value) => decimal(100 * value, 0),
};
const CHANCE: Scale = { from: 0, write: (value) => decimal(value, 2) };
const CORRELATION: Scale = { from: -1, write: (value) => credit(value, 2) };

/** What each number is, and how it is drawn. */
export const MEASURES: Readonly<Record<Measure, { title: string; hint: string; scale: Scale }>> = {
  withinTrajectoryPairAccuracy: {
    title: 'Pairs in order',
    hint: 'Of two turns of one trajectory, how often it ranks them as the truth does; chance is 50 %',
    scale: SHARE,
  },
  auc: {
    title: 'AUC',
    hint: 'How likely a turn that the truth puts above 0 has more credit than one below; chance is 0.5',
    scale: CHANCE,
  },
  aucMixedGroups: {
    title: 'AUC in mixed groups',
    hint: 'The same over groups whose outcomes differ: an easy task does not flatter it',
    scale: CHANCE,
  },
  spearman: {
    title: 'Spearman',
    hint: 'Rank correlation with the truth, from −1 to 1',
    scale: CORRELATION,
  },
  firstErrorHit: {
    title: 'First error found',
    hint: 'How often its least credit is on the first bad turn of a trajectory; chance stands beside it',
    scale: SHARE,
  },
};
