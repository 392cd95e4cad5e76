interface ProgressBarProps {
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

export function ProgressBar({ done, total, label }: ProgressBarProps) {
  return <progress className="progress" max={Math.max(total, 1)} value={done} aria-label={label} />;
}
