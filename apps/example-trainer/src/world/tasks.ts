import { CARRIED, type State, type Task, type TaskType, type World } from './world.js';
import type { Treatment } from './catalogue.js';

const TREATMENT_OF: Partial<Record<TaskType, Treatment>> = { clean: 'clean', heat: 'hot', cool: 'cool' };

/** The task in the words of ALFWorld. */
export function taskOf(type: TaskType, target: string, destination: string | null, preposition: 'in' | 'on'): Task {
  const treatment = TREATMENT_OF[type] ?? null;
  const count = type === 'two' ? 2 : 1;
  return { type, target, destination, treatment, count, statement: statementOf() };

  function statementOf(): string {
    if (type === 'examine') return `find and examine ${target}`;
    if (type === 'look') return `look at ${target} under the desklamp`;
    const wanted = type === 'two' ? `two ${target}` : treatment ? `a ${treatment} ${target}` : `some ${target}`;
    return `put ${wanted} ${preposition} ${destination}`;
  }
}

/** Whether a put-task is achieved in this state, or a look-task by what is in the hand under the lamp. */
export function isAchieved({ task, things, receptacles, lampRoom }: World, state: State): boolean {
  if (task.type === 'examine') return false; // achieved by the act, see applyCommand
  if (task.type === 'look') {
    const carried = state.place.indexOf(CARRIED);
    return state.lampOn && state.room === lampRoom && carried >= 0 && things[carried].kind === task.target;
  }
  const placed = things.filter((thing, i) => {
    if (thing.kind !== task.target || receptacles[state.place[i]]?.name !== task.destination) return false;
    return task.treatment === null || state.treatment[i] === task.treatment;
  });
  return placed.length >= task.count;
}
