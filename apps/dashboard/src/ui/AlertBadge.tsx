type AlertLevel = 'CRITICAL' | 'WARN' | 'INFO';

const WORDS = { CRITICAL: 'critical', WARN: 'warning', INFO: 'note' } as const;

interface AlertBadgeProps {
  readonly level: AlertLevel;
  /** of all alerts; not said: it stands for one */
  readonly count?: number;
}

/** How bad it is, in one word. */
export function AlertBadge({ level, count }: AlertBadgeProps) {
  return (
    <span className={`badge badge-${level.toLowerCase()}`}>
      {WORDS[level]}
      {count !== undefined && count > 1 && ` +${count - 1}`}
    </span>
  );
}
