import { z } from 'zod';

/** A name or id: no control characters, no lone surrogates, so that it can be stored, logged and shown as it is. */
export const Name = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u);

/** When it happened, by the sender's clock. Kept and shown, never used to order anything. */
export const Instant = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/);

/** `true` or `false`; 1 and 0 mean the same. */
export const Flag = z.union([z.boolean(), z.literal([0, 1])]);

/** A reward. null: asked for and not available. */
export const Reward = z.union([z.number(), z.null()]);

export const TrainingStep = z.int().nonnegative().max(2_147_483_647);
const MAX_TURNS = 1_000_000;
export const TurnIndex = z.int().nonnegative().max(MAX_TURNS);

/** A chat message as the usual APIs have it; whatever else it holds is kept. */
const ChatMessage = z.looseObject({ role: z.string() });

/** What the agent saw or did: plain text, or chat messages. */
export const Text = z.union([z.string(), z.array(ChatMessage)]);

/** Named values. null: asked for and not available; an absent name: never recorded. */
export const Signals = z.record(z.string().min(1).max(128), z.json());

/** One entry per token of the turn: JSON numbers, little-endian floats in base64, or (for texts and vectors) any JSON. */
export const TokenColumn = z.union([
  z.array(z.union([z.number(), z.null()])),
  z.strictObject({ f32: z.string() }),
  z.strictObject({ f16: z.string() }),
  z.array(z.json()),
]);

export const TokenColumns = z.record(z.string().min(1).max(128), TokenColumn);

/** Where a trajectory branches off another one: turns 0 to `turn` are shared; -1: only the prompt. */
export const Parent = z.strictObject({ trajectory: Name, turn: z.int().min(-1).max(MAX_TURNS) });

export const Turn = z.looseObject({
  state: Text.optional(),
  action: Text.optional(),
  reward: Reward.optional(),
  signals: Signals.optional(),
  tokens: TokenColumns.optional(),
});

/** A whole rollout: the same fields in the protocol, in an import file and in a test vector. */
export const TrajectoryRecord = z.looseObject({
  id: Name,
  group: Name,
  trainingStep: TrainingStep,
  parent: Parent.optional(),
  outcomeReward: Reward.optional(),
  success: Flag.optional(),
  signals: Signals.optional(),
  turns: z.array(Turn).max(MAX_TURNS),
});

/** Numbers that a sketch of the parameters may have, and tensors that it may be divided among. */
export const MAX_SKETCH = 262_144;
export const MAX_SKETCHED_TENSORS = 256;

/** A tensor, or a group of them, and how many numbers of the sketch are its. */
export const SketchedTensor = z.looseObject({ name: Name, size: z.int().positive().max(MAX_SKETCH) });

export type Text = z.infer<typeof Text>;
export type Signals = z.infer<typeof Signals>;
export type TokenColumn = z.infer<typeof TokenColumn>;
export type TokenColumns = z.infer<typeof TokenColumns>;
export type Turn = z.infer<typeof Turn>;
export type TrajectoryRecord = z.infer<typeof TrajectoryRecord>;
