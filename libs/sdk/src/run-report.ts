import type { Problem } from './problem.js';

/** What became of a run's events. */
export interface RunReport {
  /** the run's id; null: not created yet */
  readonly run: string | null;
  readonly project: string;
  readonly name: string;
  readonly producer: string;
  /** the producer's folder; removed once all of it is in the log */
  readonly spool: string;
  /** events that entered the spool */
  readonly accepted: number;
  /** events that the log has, `duplicates` of them since an earlier time */
  readonly sent: number;
  readonly duplicates: number;
  /** events that wait in the spool */
  readonly unsent: number;
  /** events that the platform refused for their content; they lie in the spool with the reason */
  readonly refused: number;
  /** events that never entered the spool because of what they held, or because it could not be written */
  readonly dropped: number;
  /** events that never entered the spool because it was full */
  readonly backPressure: number;
  /** the run's position after the last acknowledged event */
  readonly position: number | null;
  /** why something is unsent or refused */
  readonly problem: Problem | null;
  /** why events were dropped: the first twenty different reasons */
  readonly reasons: readonly string[];
}

/** The report as a sentence or two for a person. */
export function reportText(report: RunReport): string {
  const { name, sent, unsent, refused, dropped, backPressure, problem, spool, reasons } = report;
  const because = problem ? ` (${problem.detail})` : '';
  return [
    `${name}: ${sent} events are in the log.`,
    unsent > 0 && `${unsent} are still unsent${because}; \`recredit sync ${spool}\` delivers them.`,
    refused > 0 && `${refused} were refused${because}; they lie in ${spool}.`,
    dropped > 0 && `${dropped} were not recorded: ${reasons.join('; ')}.`,
    backPressure > 0 && `${backPressure} were not recorded because the spool was full.`,
  ]
    .filter((sentence) => sentence !== false)
    .join(' ');
}
