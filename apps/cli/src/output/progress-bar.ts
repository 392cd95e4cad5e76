import { duration } from './numbers.js';

/** So often it is drawn at most: a bar is there to be glanced at. */
const DRAW_EVERY_MS = 100;
const BAR_WIDTH = 24;

export interface Progress {
  readonly done: number;
  /** 0: nobody knows */
  readonly total: number;
  /** what else is worth knowing, short */
  readonly detail?: string | undefined;
  readonly secondsLeft?: number | null | undefined;
}

export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** One line that tells how far something is, on a terminal; nothing at all anywhere else. */
export class ProgressBar {
  private drawnAt = -Infinity;
  private isDrawn = false;

  constructor(
    private readonly label: string,
    private readonly screen: Screen | null,
  ) {}

  update(progress: Progress): void {
    if (!this.screen?.isTTY || performance.now() - this.drawnAt < DRAW_EVERY_MS) return;
    this.drawnAt = performance.now();
    this.isDrawn = true;
    this.screen.write(`\r\u001b[2K${progressLine(this.label, progress, (this.screen.columns ?? 80) - 1)}`);
  }

  /** Takes the line away; what was done is told by whoever did it. */
  end(): void {
    if (this.isDrawn) this.screen?.write('\r\u001b[2K');
    this.isDrawn = false;
  }
}

export function progressLine(label: string, progress: Progress, width: number): string {
  const { done, total, detail, secondsLeft } = progress;
  const bar = total > 0 ? barOf(done / total) : undefined;
  const left = typeof secondsLeft === 'number' && secondsLeft > 0 ? `${duration(secondsLeft)} left` : undefined;
  const line = [label, bar, detail, left].filter((part) => part).join('  ');
  return [...line].slice(0, Math.max(0, width)).join('');
}

function barOf(share: number): string {
  const inside = Math.min(1, Math.max(0, share));
  const filled = Math.round(inside * BAR_WIDTH);
  const percent = String(Math.floor(inside * 100)).padStart(3);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${percent} %`;
}
