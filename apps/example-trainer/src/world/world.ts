import type { Treatment } from './catalogue.js';

export const TASK_TYPES = ['examine', 'look', 'put', 'two', 'clean', 'heat', 'cool', 'safe'] as const;
export type TaskType = (typeof TASK_TYPES)[number];

export interface Task {
  readonly type: TaskType;
  /** as ALFWorld words it: "put a hot mug in cabinet" */
  readonly statement: string;
  /** the kind of thing it is about */
  readonly target: string;
  /** where the target belongs; null where the task is to look at it */
  readonly destination: string | null;
  readonly treatment: Treatment | null;
  readonly count: 1 | 2;
}

export interface Receptacle {
  readonly name: string;
  readonly room: number;
  readonly openable: boolean;
  readonly preposition: 'in' | 'on';
  readonly treats: Treatment | null;
  /** kinds of thing it takes; none for a mere appliance */
  readonly takes: readonly string[];
}

export interface Thing {
  readonly name: string;
  readonly kind: string;
  readonly treatments: readonly Treatment[];
}

/** Where a thing is, when it is in no receptacle. */
export const CARRIED = -1;
export const GONE = -2;

/** Everything that can change. Equal states behave equally: there is no hidden memory and no chance. */
export interface State {
  readonly room: number;
  /** by receptacle */
  readonly open: readonly boolean[];
  readonly locked: readonly boolean[];
  readonly lampOn: boolean;
  /** by thing: a receptacle, CARRIED or GONE; at most one is carried */
  readonly place: readonly number[];
  /** by thing: the last treatment it got */
  readonly treatment: readonly (Treatment | null)[];
  readonly done: boolean;
}

/** One task instance: a house, what lies in it, and what is to be done. */
export interface World {
  readonly id: string;
  readonly task: Task;
  readonly rooms: readonly string[];
  readonly receptacles: readonly Receptacle[];
  readonly things: readonly Thing[];
  readonly lampRoom: number | null;
  readonly chuteRoom: number | null;
  readonly start: State;
  /** turns after which a trajectory ends without success */
  readonly stepLimit: number;
}
