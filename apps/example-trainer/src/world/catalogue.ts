export type Treatment = 'clean' | 'hot' | 'cool';

/** What furniture can do. A receptacle takes the kinds of thing that name it in THINGS. */
export interface Furniture {
  readonly name: string;
  readonly rooms: readonly string[];
  readonly openable?: boolean;
  readonly preposition?: 'in' | 'on';
  /** what it makes of a thing that is held to it */
  readonly treats?: Treatment;
}

export interface ThingKind {
  readonly kind: string;
  readonly fits: readonly string[];
  readonly treatments?: readonly Treatment[];
}

export const FURNITURE: readonly Furniture[] = [
  { name: 'fridge', rooms: ['kitchen'], openable: true, preposition: 'in', treats: 'cool' },
  { name: 'microwave', rooms: ['kitchen'], treats: 'hot' },
  { name: 'sinkbasin', rooms: ['kitchen'], treats: 'clean' },
  { name: 'countertop', rooms: ['kitchen'], preposition: 'on' },
  { name: 'cabinet', rooms: ['kitchen'], openable: true, preposition: 'in' },
  { name: 'coffeetable', rooms: ['livingroom'], preposition: 'on' },
  { name: 'sofa', rooms: ['livingroom'], preposition: 'on' },
  { name: 'drawer', rooms: ['livingroom'], openable: true, preposition: 'in' },
  { name: 'shelf', rooms: ['livingroom'], preposition: 'on' },
  { name: 'desk', rooms: ['bedroom'], preposition: 'on' },
  { name: 'bed', rooms: ['bedroom'], preposition: 'on' },
  { name: 'dresser', rooms: ['bedroom'], openable: true, preposition: 'in' },
  { name: 'safe', rooms: ['bedroom'], openable: true, preposition: 'in' },
];

export const ROOMS = ['kitchen', 'livingroom', 'bedroom'] as const;
export const LAMP_ROOM = 'bedroom';
export const CHUTE_ROOM = 'kitchen';

const ANY_TREATMENT: readonly Treatment[] = ['clean', 'hot', 'cool'];

export const THINGS: readonly ThingKind[] = [
  { kind: 'apple', fits: ['fridge', 'countertop', 'coffeetable', 'dresser'], treatments: ANY_TREATMENT },
  { kind: 'egg', fits: ['fridge', 'countertop', 'cabinet'], treatments: ANY_TREATMENT },
  { kind: 'mug', fits: ['cabinet', 'countertop', 'desk', 'shelf'], treatments: ANY_TREATMENT },
  { kind: 'plate', fits: ['cabinet', 'countertop', 'shelf', 'coffeetable'], treatments: ANY_TREATMENT },
  { kind: 'cloth', fits: ['cabinet', 'drawer', 'dresser', 'bed'], treatments: ['clean'] },
  { kind: 'book', fits: ['shelf', 'desk', 'bed', 'sofa'] },
  { kind: 'newspaper', fits: ['coffeetable', 'sofa', 'drawer', 'desk'] },
  { kind: 'pen', fits: ['desk', 'drawer', 'countertop'] },
  { kind: 'watch', fits: ['safe', 'dresser', 'desk', 'drawer'] },
  { kind: 'creditcard', fits: ['safe', 'drawer', 'countertop', 'desk'] },
  { kind: 'remote', fits: ['sofa', 'coffeetable', 'drawer'] },
  { kind: 'pillow', fits: ['bed', 'sofa'] },
  { kind: 'key', fits: ['desk', 'drawer', 'countertop', 'shelf'] },
];
