import type { Finding } from '#lib/diagnostics';
import type { CompletedAudit } from '../client/audit.js';
import { compact, count, counted, percent } from './numbers.js';
import { formatTable } from './table.js';

/** The verdict in a sentence, what it rests on, and the rows that are furthest off. */
export function auditText({ signal, estimator, params, result }: CompletedAudit): string {
  const { sentence, audited, trainingSteps, findings, changes, notRecomputed } = result;
  const sections = [
    `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`,
    [
      `claimed: ${estimator} ${JSON.stringify(params)}`,
      `audited: ${signal}, on ${count(audited)} of ${counted(trainingSteps, 'training step')}`,
      ...(notRecomputed
        ? [`not recomputed on ${counted(notRecomputed.trainingSteps, 'training step')}: ${notRecomputed.text}`]
        : []),
    ].join('\n'),
  ];
  if (findings.length > 0) sections.push(findingsText(findings));
  if (changes.length > 0) {
    const shown = changes.map(
      ({ trainingStep, verdict, formula }) =>
        `${verdict}${formula ? ` (${formula})` : ''} from step ${count(trainingStep)}`,
    );
    sections.push(`it changes: ${shown.join(', ')}`);
  }
  const fault = findings.find(({ verdict }) => verdict !== 'match');
  if (fault && fault.worst.length > 0) sections.push(worstText(fault));
  return sections.join('\n\n');
}

function findingsText(findings: readonly Finding[]): string {
  const rows = findings.map(
    ({ verdict, formula, transform, turnPattern, mask, equallyGood, otherEstimators, ...of }) => [
      verdict,
      [
        ...otherEstimators,
        formula,
        transform === 'identity' ? null : transform,
        turnPattern,
        mask === 'mask-ok' ? null : mask,
      ]
        .filter((part) => part !== null)
        .join(', '),
      `${count(of.trainingSteps)}${of.isStable ? '' : ' (too few to be sure)'}`,
      `${count(of.firstStep)}..${count(of.lastStep)}`,
      percent(of.mismatchShare),
      some(equallyGood),
    ],
  );
  return formatTable([['verdict', 'explained by', 'steps', 'of', 'rows off', 'fits as well']], rows, [
    'left',
    'left',
    'right',
    'left',
    'right',
    'left',
  ]);
}

function worstText({ worst }: Finding): string {
  const rows = worst.map(({ trainingStep, group, trajectory, turn, token, logged, recomputed }) => [
    count(trainingStep),
    group,
    [trajectory, turn === null ? null : `turn ${turn}`, token === null ? null : `token ${token}`]
      .filter((part) => part !== null)
      .join(', '),
    compact(logged),
    compact(recomputed),
  ]);
  return formatTable([['step', 'group', 'furthest off', 'logged', 'recomputed']], rows, [
    'right',
    'left',
    'left',
    'right',
    'right',
  ]);
}

const SHOWN = 3;

/** The first few of what may be many: a step whose groups all agree tells next to nothing apart. */
const some = (names: readonly string[]) =>
  names.length > SHOWN ? `${names.slice(0, SHOWN).join('; ')} and ${names.length - SHOWN} more` : names.join('; ');
