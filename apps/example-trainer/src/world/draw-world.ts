import type { Random } from '#lib/numeric';
import { pick, shuffled } from '../random.js';
import { CHUTE_ROOM, FURNITURE, LAMP_ROOM, ROOMS, THINGS, type Furniture, type ThingKind } from './catalogue.js';
import { taskOf } from './tasks.js';
import type { Receptacle, State, TaskType, Thing, World } from './world.js';

export interface Wanted {
  readonly type: TaskType;
  readonly number: number;
  readonly stepLimit: number;
  readonly distractors: number;
}

/** A house with a task in it, or null where the draw found no place for a thing. Whether it can be done is not asked. */
export function drawWorld(random: Random, { type, number, stepLimit, distractors }: Wanted): World | null {
  const suitable = THINGS.filter((kind) => suits(kind, type));
  const target = pick(random, suitable);
  const destination = destinationFor(random, type, target);
  const targets = Array<ThingKind>(type === 'two' ? 2 : 1).fill(target);
  const homes = target.fits.filter((name) => name !== destination && name !== 'safe');
  if (homes.length === 0) return null;

  const furniture = furnish(random, type, [destination, ...targets.map(() => pick(random, homes))]);
  const others = THINGS.filter((kind) => kind !== target && kind.kind !== 'key');
  const keys = type === 'safe' ? THINGS.filter(({ kind }) => kind === 'key') : [];
  const kinds = [...targets, ...keys, ...shuffled(random, others).slice(0, distractors)];
  const place = kinds.map((kind) => homeIn(random, furniture, kind, destination));
  if (place.includes(NOWHERE)) return null;

  const hasLamp = type === 'look' || random.next() < 0.2;
  const hasChute = random.next() < 0.5;
  const receptacles = furniture.map(receptacleOf);
  const preposition = furniture.find(({ name }) => name === destination)?.preposition ?? 'in';
  return {
    id: [type, target.kind, number].join('-'),
    task: taskOf(type, target.kind, destination, preposition),
    rooms: ROOMS,
    receptacles,
    things: numbered(kinds),
    lampRoom: hasLamp ? ROOMS.indexOf(LAMP_ROOM) : null,
    chuteRoom: hasChute ? ROOMS.indexOf(CHUTE_ROOM) : null,
    start: startState(random.integer(ROOMS.length), receptacles, place),
    stepLimit,
  };
}

const NOWHERE = -1;

/** A piece that takes the thing, but not the one where the task wants it, nor a locked one. */
function homeIn(random: Random, furniture: readonly Furniture[], { fits }: ThingKind, destination: string | null) {
  const homes = furniture.filter(({ name }) => fits.includes(name) && name !== destination && name !== 'safe');
  return homes.length > 0 ? furniture.indexOf(pick(random, homes)) : NOWHERE;
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
  const open = target.fits.filter((name) => name !== 'safe');
  return pick(random, open);
}

/** What the task needs, and enough else that every room has two pieces. */
function furnish(random: Random, type: TaskType, needed: readonly (string | null)[]): Furniture[] {
  const treatment = taskOf(type, '', null, 'in').treatment;
  const chosen = new Set(
    FURNITURE.filter(({ name, treats }) => needed.includes(name) || (treats && treats === treatment)),
  );
  for (const room of ROOMS) {
    const ofRoom = FURNITURE.filter(({ rooms }) => rooms.includes(room));
    const spare = ofRoom.filter((piece) => !chosen.has(piece));
    const lacking = Math.max(0, 2 - (ofRoom.length - spare.length));
    for (const piece of shuffled(random, spare).slice(0, lacking)) chosen.add(piece);
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
function numbered(kinds: readonly ThingKind[]): Thing[] {
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
