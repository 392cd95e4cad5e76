import { EARLIER_CHECKPOINTS, type Checkpoint, type CheckpointInRun } from '#lib/diagnostics';
import { checkpointsOf, sketchesAt, type CheckpointOutline } from '#lib/projection';
import type { Queryable } from '#lib/storage';

/** The checkpoints of a run as of a position, each handed out with those before it; sketches are read once and in turn. */
export class CheckpointWindow {
  private readonly sketches = new Map<number, Checkpoint>();
  private latest: Promise<CheckpointInRun | null> = Promise.resolve(null);

  private constructor(
    private readonly db: Queryable,
    private readonly runId: string,
    private readonly outlines: readonly CheckpointOutline[],
  ) {}

  static async of(db: Queryable, runId: string, asOf: number): Promise<CheckpointWindow> {
    return new CheckpointWindow(db, runId, await checkpointsOf(db, runId, asOf));
  }

  /** The checkpoint of a training step; null: it has none. Asked in ascending order it keeps no more than a window of them. */
  at(trainingStep: number): Promise<CheckpointInRun | null> {
    // one after the other: what one reads, the next has
    return (this.latest = this.latest.then(() => this.find(trainingStep)));
  }

  private async find(trainingStep: number): Promise<CheckpointInRun | null> {
    const own = this.outlines.find((outline) => outline.trainingStep === trainingStep);
    if (!own) return null;
    const before = this.outlines.filter((outline) => outline.trainingStep < trainingStep);
    const [read] = await this.read([own]);
    // the first whose numbers are all known is what the others are held against
    const first = await this.firstWhole([...before, own]);
    const isComparable = isWhole(read) && first?.kind === own.kind;
    if (!isComparable || !first) return { ...read, earlier: [], isComparable: false };
    const alike = before.filter(({ kind, position }) => kind === first.kind && position !== first.position);
    const latest = (await this.read(alike.slice(-EARLIER_CHECKPOINTS))).filter(isWhole);
    this.forget(before.slice(0, -EARLIER_CHECKPOINTS), first);
    const start = first.position === own.position ? [] : await this.read([first]);
    return { ...read, earlier: [...start, ...latest], isComparable: true };
  }

  private async firstWhole(outlines: readonly CheckpointOutline[]): Promise<CheckpointOutline | null> {
    for (const outline of outlines) if (isWhole((await this.read([outline]))[0])) return outline;
    return null;
  }

  private async read(outlines: readonly CheckpointOutline[]): Promise<Checkpoint[]> {
    const unread = outlines.filter(({ position }) => !this.sketches.has(position)).map(({ position }) => position);
    const found = await sketchesAt(this.db, this.runId, unread);
    for (const outline of outlines) {
      const numbers = found.get(outline.position);
      if (numbers) this.sketches.set(outline.position, divided(outline, numbers));
    }
    return outlines.map(({ position }) => this.sketches.get(position)!);
  }

  private forget(outlines: readonly CheckpointOutline[], first: CheckpointOutline): void {
    for (const { position } of outlines) if (position !== first.position) this.sketches.delete(position);
  }
}

function divided({ trainingStep, kind, tensors }: CheckpointOutline, numbers: Float32Array): Checkpoint {
  let from = 0;
  const parts = tensors.map(({ name, size }) => [name, numbers.slice(from, (from += size))] as const);
  return { trainingStep, kind, tensors: Object.fromEntries(parts) };
}

const isWhole = ({ tensors }: Checkpoint) =>
  Object.values(tensors).every((numbers) => (numbers as Float32Array).every(Number.isFinite));
