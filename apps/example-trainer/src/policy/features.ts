import { hash32 } from '#lib/numeric';
import type { Scene, SeenThing } from '../world/scene.js';

/** Weights of the policy; two features that share one by their hash are a price worth paying for a fixed size. */
export const FEATURE_COUNT = 1 << 15;

/** What a scene says, in words that do not depend on this task's names: "carry target", "destination closed". */
export interface Facts {
  readonly each: readonly string[];
  /** all of them at once */
  readonly together: string;
}

export function factsOf(scene: Scene): Facts {
  const { task, room, receptacles, carried, lamp } = scene;
  const destination = receptacles.find(({ name }) => name === task.destination);
  const loose = receptacles.some(({ name, things }) => name !== task.destination && has(things, task.target));
  const doors = receptacles.map(({ door }) => door);
  const core = [
    `task ${task.type}`,
    `carry ${carried ? inHand(carried, scene) : 'nothing'}`,
    `target ${loose ? 'loose' : has(destination?.things ?? [], task.target) ? 'placed' : 'unseen'}`,
    `destination ${destination ? (destination.door ?? 'ready') : 'elsewhere'}`,
    `doors ${doors.includes('closed') ? 'closed' : 'open'}`,
    `lamp ${lamp ?? 'elsewhere'}`,
  ];
  return {
    each: ['always', ...core, `room ${room}`, `${core[0]} room ${room}`, `${core[1]} room ${room}`],
    together: core.join(),
  };
}

/**
 * Features of continuing a command with one more word: the words so far with what the scene says, with names
 * replaced by their role in the task, and the plain words with the names that the task mentions.
 *
 * @param words the command up to and with the word in question
 */
export function featuresOf(scene: Scene, facts: Facts, words: readonly string[]): number[] {
  const { task, carried } = scene;
  const plain = words.join(' ');
  const role = words.map((word) => roleOf(word, scene)).join(' ');
  const holding = carried ? inHand(carried, scene) : 'nothing';
  const features = [
    ...facts.each.map((fact) => `${role} | ${fact}`),
    `${role} | ${facts.together}`,
    `${plain} | ${task.target} ${holding}`,
    `${plain} | to ${task.destination} ${holding}`,
    `${plain} | ${task.type} ${holding}`,
  ];
  const isNumber = /^\d+$/.test(words.at(-1) ?? '');
  if (isNumber) features.push(`${role} | lies ${placeOf(words.slice(-2).join(' '), scene)}`);
  return features.map(weightOf);
}

/** What the critic sees: the facts and the task's names, with how much of the time is left. */
export function valueFeaturesOf(scene: Scene, facts: Facts, remaining: number): number[] {
  const { type, target, destination } = scene.task;
  return [...facts.each, facts.together, `${type} ${target}`, `${type} to ${destination}`]
    .flatMap((fact) => [fact, `${fact}, ${Math.ceil(remaining / 4)} quarters left`])
    .map(weightOf);
}

function inHand({ kind, treatment }: SeenThing, { task }: Scene): string {
  if (kind !== task.target) return kind === 'key' ? 'key' : 'other';
  return task.treatment && treatment === task.treatment ? 'target treated' : 'target';
}

function roleOf(word: string, { task }: Scene): string {
  if (word === task.target) return 'TARGET';
  return word === task.destination ? 'DESTINATION' : word;
}

function placeOf(thing: string, { task, receptacles }: Scene): string {
  const holder = receptacles.find(({ things }) => things.some(({ name }) => name === thing));
  return holder?.name === task.destination ? 'placed' : 'loose';
}

function has(things: readonly SeenThing[], target: string): boolean {
  return things.some(({ kind }) => kind === target);
}

function weightOf(feature: string): number {
  return hash32(feature) & (FEATURE_COUNT - 1);
}
