import type { Random } from '#lib/numeric';
import { pick, shuffled } from '../random.js';
import { CHUTE_ROOM, FURNITURE, LAMP_ROOM, ROOMS, THINGS, type Furniture, type ThingKind } from './catalogue.js';
import { shortestSolution, stateGraph, type StateGraph } from './state-graph.js';
import { taskOf } from './tasks.js';
import type { Receptacle, State, TaskType, Thing, World } from './world.js';

export interface Difficulty {
  readonly stepLimit: number;
  /** bounds the exact values' cost */
  readonly maxStates: number;
  readonly distractors: number;
  /** turns that a task must need at least */
  readonly minTurns: number;
  /** turns that must be left over when the shortest way is taken */
  readonly slack: number;
}

export const DIFFICULTY: Difficulty = { stepLimit: 20, maxStates: 4_000, distractors: 2, minTurns: 3, slack: 4 };

/** A house with a task that can be achieved, with all its states. Draws again until the difficulty is met. */
export function generateTask(random: Random, type: TaskType, number: number, difficulty = DIFFICULTY): StateGraph {
  for (;;) {
    const world = drawWorld(random, type, number, difficulty);
    const graph = world && stateGraph(world, difficulty.maxStates);
    const turns = graph && shortestSolution(graph);
    if (turns && turns >= difficulty.minTurns && turns <= difficulty.stepLimit - difficulty.slack) return graph;
  }
}

function drawWorld(random: Random, type: TaskType, number: number, difficulty: Difficulty): World | null {
  const target = pick(
    random,
    THINGS.filter((kind) => suits(kind, type)),
  );
  const destination = destinationFor(random, type, target);
  const count = type === 'two' ? 2 : 1;
  const homes = target.fits.filter((name) => name !== destination && name !== 'safe');
  if (homes.length === 0) return null;

  const furniture = furnish(random, type, [destination, ...Array.from({ length: count }, () => pick(random, homes))]);
  const receptacles = furniture.map(receptacleOf);
  const homeOf = (kind: ThingKind) =>
    pick(
      random,
      furniture.filter(({ name }) => kind.fits.includes(name) && name !== destination && name !== 'safe'),
    );

  const others = THINGS.filter((kind) => kind !== target && kind.kind !== 'key');
  const kinds = [
    ...Array.from({ length: count }, () => target),
    ...(type === 'safe' ? THINGS.filter(({ kind }) => kind === 'key') : []),
    ...shuffled(random, others).slice(0, difficulty.distractors),
  ];
  const place = kinds.map((kind) => furniture.indexOf(homeOf(kind)));
  if (place.includes(-1)) return null;

  const lamp = type === 'look' || random.next() < 0.2;
  const preposition = furniture.find(({ name }) => name === destination)?.preposition ?? 'in';
  const task = taskOf(type, target.kind, destination, preposition);
  return {
    id: [type, target.kind, number].join('-'),
    task,
    rooms: ROOMS,
    receptacles,
    things: things(kinds),
    lampRoom: lamp ? ROOMS.indexOf(LAMP_ROOM) : null,
    chuteRoom: random.next() < 0.5 ? ROOMS.indexOf(CHUTE_ROOM) : null,
    start: startState(random.integer(ROOMS.length), receptacles, place),
    stepLimit: difficulty.stepLimit,
  };
}

function suits({ kind, fits, treatments = [] }: ThingKind, type: TaskType): boolean {
  if (kind === 'key') return false;
  if (type === 'safe') return fits.includes('safe');
  const treatment = taskOf(type, kind, null, 'in').treatment;
  return treatment === null || treatments.includes(treatment);
}

function destinationFor(random: Random, type: TaskType, target: ThingKind): string | null {
  if (type === 'look' || type === 'examine') return null;
  if (type === 'safe') return 'safe';
  return pick(
    random,
    target.fits.filter((name) => name !== 'safe'),
  );
}

/** What the task needs, one more appliance at times, and enough else that no room is bare. */
function furnish(random: Random, type: TaskType, needed: readonly (string | null)[]): Furniture[] {
  const treatment = taskOf(type, '', null, 'in').treatment;
  const chosen = new Set(
    FURNITURE.filter(({ name, treats }) => needed.includes(name) || (treats && treats === treatment)),
  );
  for (const room of ROOMS) {
    const spare = shuffled(
      random,
      FURNITURE.filter((piece) => piece.rooms.includes(room) && !chosen.has(piece)),
    );
    const present = [...chosen].filter((piece) => piece.rooms.includes(room)).length;
    for (const piece of spare.slice(0, Math.max(0, 2 - present))) chosen.add(piece);
  }
  return FURNITURE.filter((piece) => chosen.has(piece));
}

function receptacleOf({ name, rooms, openable = false, preposition = 'in', treats }: Furniture): Receptacle {
  return {
    name,
    room: ROOMS.findIndex((room) => rooms.includes(room)),
    openable,
    preposition,
    treats: treats ?? null,
    takes: THINGS.filter(({ fits }) => fits.includes(name)).map(({ kind }) => kind),
  };
}

/** Numbers the things of a kind from 1. */
function things(kinds: readonly ThingKind[]): Thing[] {
  return kinds.map((kind, i) => ({
    kind: kind.kind,
    name: `${kind.kind} ${kinds.slice(0, i + 1).filter((other) => other === kind).length}`,
    treatments: kind.treatments ?? [],
  }));
}

function startState(room: number, receptacles: readonly Receptacle[], place: readonly number[]): State {
  return {
    room,
    open: receptacles.map(() => false),
    locked: receptacles.map(({ name }) => name === 'safe'),
    lampOn: false,
    place,
    treatment: place.map(() => null),
    done: false,
  };
}
