/** Parameters after a training step, projected: one vector per tensor, or group of them. */
export interface Checkpoint {
  readonly trainingStep: number;
  /** only checkpoints of one kind can be compared: how they were projected, and into how many numbers of which tensor */
  readonly kind: string;
  /** [tensor][dimensions] */
  readonly tensors: Readonly<Record<string, ArrayLike<number>>>;
}

/** A checkpoint with those before it. */
export interface CheckpointInRun extends Checkpoint {
  /** ascending: the first one of the run and the latest ones, EARLIER_CHECKPOINTS of them at most, of its kind */
  readonly earlier: readonly Checkpoint[];
  /** it is of the kind of the run's first one, and all its numbers are some */
  readonly isComparable: boolean;
}

/** Checkpoints before one that it is held against, beside the run's first. */
export const EARLIER_CHECKPOINTS = 50;

type Tensors = Checkpoint['tensors'];

/** ⟨a − origin, b − origin⟩ over all tensors; the origin is 0 where it is not said. */
export function innerProduct(a: Tensors, b: Tensors, origin?: Tensors): number {
  let sum = 0;
  for (const name of Object.keys(a)) sum += product(a[name], b[name], origin?.[name]);
  return sum;
}

/** ‖a − b‖ over all tensors. */
export function distance(a: Tensors, b: Tensors): number {
  return Math.sqrt(innerProduct(a, a, b));
}

/** ⟨a − origin, b − origin⟩ of one tensor. */
export function product(a: ArrayLike<number>, b: ArrayLike<number>, origin?: ArrayLike<number>): number {
  let sum = 0;
  if (!origin) for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  else for (let i = 0; i < a.length; i++) sum += (a[i] - origin[i]) * (b[i] - origin[i]);
  return sum;
}
