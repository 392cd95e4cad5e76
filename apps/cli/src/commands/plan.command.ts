import type { PlannedStart } from '#lib/diagnostics';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { awaitDiagnosis } from '../client/diagnosis.js';
import { online, wholeNumber } from '../options.js';
import { count, counted, NOTHING, percent } from '../output/numbers.js';
import { formatTable } from '../output/table.js';
import { withApi } from '../session.js';

interface PlanOptions extends CommonOptions {
  readonly asOf?: number;
}

interface TaskView {
  readonly task: string;
  readonly attempts: number;
  readonly successes: number;
}

interface PlanView {
  readonly asOf: number | null;
  readonly pendingSteps: number;
  readonly plateauCauses: readonly string[];
  readonly health: readonly {
    readonly level: 'INFO' | 'WARN' | 'CRITICAL';
    readonly diagnostic: string;
    readonly rule: string;
    readonly says: string;
    readonly saw: Readonly<Record<string, number>>;
    readonly since: number;
    readonly remedy: string;
  }[];
  readonly bands: readonly { readonly band: string; readonly tasks: readonly TaskView[] }[];
  readonly budget: {
    readonly rollouts: number;
    readonly shares: readonly (TaskView & {
      readonly predicted: number;
      readonly lastRollouts: number;
      readonly rollouts: number;
      readonly mixed: number;
    })[];
    readonly starts: readonly PlannedStart[];
  } | null;
  readonly restarts: readonly {
    readonly task: string;
    readonly trainingStep: number;
    readonly trajectory: string;
    readonly prefixTurns: number;
    readonly success: number;
    readonly continuations: number;
    readonly score: number;
    readonly reason: string;
    readonly prefix: readonly { readonly index: number; readonly state: string; readonly action: string }[];
  }[];
  readonly drop: readonly { readonly task: string; readonly attempts: number; readonly why: string; readonly advice: string }[]; // prettier-ignore
  readonly failures: readonly {
    readonly representative: string;
    readonly trainingStep: number;
    readonly size: number;
    readonly share: number;
    readonly tasks: readonly string[];
    readonly fault: 'AGENT' | 'TASK' | null;
  }[];
}

const FIELDS = `asOf pendingSteps plateauCauses health { level diagnostic rule says saw since remedy }
  bands { band tasks { task attempts successes posteriorMean learnability mixedProbability needsHint } }
  budget { rollouts shares { task attempts successes predicted lastRollouts rollouts mixed }
    starts { task trajectory prefixTurns predicted rollouts mixed } }
  restarts { task trainingStep trajectory prefixTurns success continuations score reason prefix { index state action } }
  drop { task attempts why advice } failures { representative trainingStep size share tasks fault }`;

/** Lines of a table; `--json` has all of them. */
const SHOWN = 10;

export function planCommand(cli: Cli): Command {
  return online(new Command('plan'))
    .description('where the next rollouts of a run would best be spent: advice, nothing is done by it')
    .argument('<run>', 'name or id')
    .option('--as-of <position>', 'what would have been advised then', wholeNumber)
    .action(
      cli.answering(async (name: string, options: PlanOptions) => {
        const waiting = cli.progress('measuring', options);
        waiting.update({ done: 0, total: 0 });
        const asOf = options.asOf ?? null;
        const found = await withApi(cli, options, async (api) => {
          const { id, name: run } = await awaitDiagnosis(api, name, asOf);
          const query = `query ($id: ID!, $asOf: Position) { run(id: $id) { plan(asOf: $asOf) { ${FIELDS} } } }`;
          const { run: planned } = await api.query<{ run: { plan: PlanView } }>(query, { id, asOf });
          return { id, run, plan: planned.plan };
        }).finally(() => waiting.end());
        return { json: { run: found.id, ...found.plan }, text: planText(found.run, found.plan) };
      }),
    );
}

function planText(run: string, plan: PlanView): string {
  return [
    `${run}, its first ${counted(plan.asOf, 'event')}`,
    healthText(plan),
    bandsText(plan),
    ...budgetText(plan),
    ...startsText(plan),
    ...restartsText(plan),
    ...dropText(plan),
    ...failuresText(plan),
  ].join('\n\n');
}

function healthText({ health, plateauCauses }: PlanView): string {
  const lines = [...Map.groupBy(health, ({ diagnostic }) => diagnostic).values()].map((same) => {
    const alerts = same.map(({ level, says, diagnostic, since }) => `${level.toLowerCase()}  ${says} (${diagnostic}, since training step ${count(since)})`); // prettier-ignore
    return [...alerts, `  what helps: ${same[0].remedy}`].join('\n');
  });
  const causes = plateauCauses.length > 0 ? [`the score does not rise any more: ${plateauCauses.join(', ')}`] : [];
  return [...(lines.length > 0 ? lines : ['nothing is wrong that the diagnostics see']), ...causes].join('\n');
}

function bandsText({ bands }: PlanView): string {
  const rows = bands.map(({ band, tasks }) => [
    band.toLowerCase(),
    count(tasks.length),
    named(tasks.map(({ task }) => task)),
  ]);
  return formatTable([['band', 'tasks', 'the most learnable']], rows, ['left', 'right', 'left']);
}

function budgetText({ budget }: PlanView): string[] {
  if (!budget) return [];
  const moved = budget.shares.filter(({ rollouts, lastRollouts }) => rollouts !== lastRollouts);
  if (moved.length === 0) return ['the rollouts are spent as they should be'];
  const rows = moved
    .toSorted((a, b) => Math.abs(b.rollouts - b.lastRollouts) - Math.abs(a.rollouts - a.lastRollouts))
    .slice(0, SHOWN)
    .map(({ task, successes, attempts, lastRollouts, rollouts, mixed }) => [task, `${count(successes)} of ${count(attempts)}`, count(lastRollouts), count(rollouts), percent(mixed)]); // prettier-ignore
  return [
    `${counted(budget.rollouts, 'rollout')}, spent where they bring successes and failures${more(moved.length)}`,
    formatTable([['task', 'solved', 'last', 'next', 'both ways']], rows, ['left', 'right', 'right', 'right', 'right']),
  ];
}

/** Only where a prefix gets something: else it is what the table above says. */
function startsText({ budget }: PlanView): string[] {
  if (!budget?.starts.some(({ prefixTurns }) => prefixTurns > 0)) return [];
  const { starts } = budget;
  const rows = starts
    .slice(0, SHOWN)
    .map(({ task, trajectory, prefixTurns, rollouts, mixed }) => [
      task,
      trajectory === null ? 'the prompt' : `${counted(prefixTurns, 'turn')} of ${trajectory}`,
      count(rollouts),
      percent(mixed),
    ]);
  return [
    `the same rollouts, if they may start inside a task too${more(starts.length)}`,
    formatTable([['task', 'start from', 'rollouts', 'both ways']], rows, ['left', 'left', 'right', 'right']),
  ];
}

function restartsText({ restarts }: PlanView): string[] {
  if (restarts.length === 0) return [];
  const rows = restarts
    .slice(0, SHOWN)
    .map(({ task, trajectory, prefixTurns, success, reason }) => [task, trajectory, count(prefixTurns), percent(success), reason]); // prettier-ignore
  return [
    `states worth returning to${more(restarts.length)}`,
    formatTable([['task', 'replay', 'turns', 'success', 'because']], rows, ['left', 'left', 'right', 'right', 'left']),
  ];
}

function dropText({ drop }: PlanView): string[] {
  if (drop.length === 0) return [];
  const rows = drop.slice(0, SHOWN).map(({ task, attempts, why, advice }) => [task, `${why.toLowerCase()} in ${counted(attempts, 'try', 'tries')}`, advice]); // prettier-ignore
  return [
    `tasks to drop: their groups carry no signal${more(drop.length)}`,
    formatTable([['task', 'why', 'instead']], rows, ['left', 'left', 'left']),
  ];
}

function failuresText({ failures }: PlanView): string[] {
  const several = failures.filter(({ size }) => size > 1);
  if (several.length === 0) return [];
  const rows = several
    .slice(0, SHOWN)
    .map(({ representative, size, share, tasks, fault }) => [representative, count(size), percent(share), named(tasks), fault?.toLowerCase() ?? NOTHING]); // prettier-ignore
  return [
    `failures that do the same${more(several.length)}`,
    formatTable([['such as', 'failures', 'share', 'tasks', 'whose fault']], rows, ['left', 'right', 'right', 'left', 'left']), // prettier-ignore
  ];
}

const FEW = 3;
const named = (names: readonly string[]) =>
  names.length > FEW ? `${names.slice(0, FEW).join(', ')} and ${count(names.length - FEW)} more` : names.join(', ');
const more = (rows: number) => (rows > SHOWN ? ` (${SHOWN} of ${count(rows)}; --json has all)` : '');
