import type { ComparisonDifference, NumberDifference } from '#lib/diagnostics';
import { compact } from './numbers.js';
import { formatTable } from './table.js';

/** Two analyses beside each other: a table of the outcomes, and one of each estimator with what it is measured against. */
export function differenceText(found: ComparisonDifference): string {
  const sections = [table('outcomes', found.outcomes)];
  for (const { estimator, differsIn, numbers } of found.estimators) {
    const note = differsIn.length > 0 ? ` (other ${differsIn.join(' and ')} in the second)` : '';
    sections.push(table(`${estimator}${note}`, numbers));
    for (const truth of found.truths.filter((row) => row.estimator === estimator)) {
      sections.push(table(`${estimator} against ${truth.signal}`, truth.numbers));
    }
  }
  const only = (labels: readonly string[], where: string) =>
    labels.length > 0 ? [`only in the ${where}: ${labels.join(', ')}`] : [];
  const notes = [
    ...only(found.onlyFirst, 'first'),
    ...only(found.onlySecond, 'second'),
    ...(found.shareRuns ? ['both are of one run: no interval is given for what differs'] : []),
  ];
  return [...sections.filter((section) => section !== ''), ...(notes.length > 0 ? [notes.join('\n')] : [])].join(
    '\n\n',
  );
}

/** Numbers that neither has are left out. */
function table(title: string, numbers: readonly NumberDifference[]): string {
  const rows = numbers
    .filter(({ first, second }) => first !== null || second !== null)
    .map(({ number, first, second, difference, low, high }) => [
      number,
      compact(first),
      compact(second),
      compact(difference),
      low === null ? '' : `${compact(low)} to ${compact(high)}`,
    ]);
  if (rows.length === 0) return '';
  return formatTable([[title, 'first', 'second', 'difference', '90 % interval']], rows, [
    'left',
    'right',
    'right',
    'right',
    'right',
  ]);
}
