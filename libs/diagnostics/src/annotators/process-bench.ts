/** How well a judge finds the first wrong step, in per cent. null: no trajectory to say it of. */
export interface ProcessBench {
  /** [trajectories] -1: says there is no error; null: its critiques cannot be read */
  readonly judgeFirstError: readonly (number | null)[];
  /** exact first error among the trajectories that have one */
  readonly errorAcc: number | null;
  /** "no error" among those that have none */
  readonly correctAcc: number | null;
  /** harmonic mean of both; 0 where both are 0 */
  readonly f1: number | null;
}

/**
 * ProcessBench: the judge's verdict is the last boxed integer of its critique, or of several critiques the commonest box.
 *
 *     acc1 = 100 · share of trajectories with an error whose first one is named
 *     acc2 = 100 · share of trajectories without an error of which that is said
 *     F1   = 2 acc1 acc2 / (acc1 + acc2)
 *
 * A judge that always finds no error has acc2 = 100 and F1 = 0. With voting, critiques without a box are dropped and
 * boxes compared as texts, so 1 and 01 differ and a text that is no number can win; of equals the first seen wins.
 *
 * Source: QwenLM/ProcessBench, code/run_eval.py@e802463.
 *
 * @param humanFirstError [trajectories] -1: there is no error
 * @param critiques [trajectories] one text per attempt; without voting the first is read
 */
export function processBench(
  humanFirstError: readonly number[],
  critiques: readonly (readonly string[])[],
  { voting }: { readonly voting: boolean },
): ProcessBench {
  const judgeFirstError = critiques.map((texts) => {
    const boxes = (voting ? texts : texts.slice(0, 1)).map(lastBox).filter((box) => box !== null);
    return integerOf(commonest(boxes));
  });
  return { judgeFirstError, ...firstErrorScores(humanFirstError, judgeFirstError) };
}

/**
 * The scores of a judge whose verdicts are known, such as by its labels: the first turn that it labels −1.
 *
 * @param humanFirstError, judgeFirstError [trajectories] -1: there is no error; null: no verdict, which matches nothing
 */
export function firstErrorScores(
  humanFirstError: readonly number[],
  judgeFirstError: readonly (number | null)[],
): Omit<ProcessBench, 'judgeFirstError'> {
  const share = (hasError: boolean) => {
    const rows = humanFirstError.flatMap((label, i) => ((label !== -1) === hasError ? [i] : []));
    const right = rows.filter((i) => judgeFirstError[i] === humanFirstError[i]).length;
    return rows.length === 0 ? null : (100 * right) / rows.length;
  };
  const [errorAcc, correctAcc] = [share(true), share(false)];
  return { errorAcc, correctAcc, f1: harmonic(errorAcc, correctAcc) };
}

/** What stands in the last `\boxed{...}`, without blanks around it; null without a box. */
function lastBox(critique: string): string | null {
  return [...critique.matchAll(/\\boxed\{([^{}]*)\}/g)].at(-1)?.[1].trim() ?? null;
}

function commonest(boxes: readonly string[]): string | null {
  const count = new Map<string, number>();
  for (const box of boxes) count.set(box, (count.get(box) ?? 0) + 1);
  let [most, times]: [string | null, number] = [null, 0];
  for (const [box, n] of count) if (n > times) [most, times] = [box, n];
  return most;
}

function integerOf(text: string | null): number | null {
  return text !== null && /^[+-]?\d+$/.test(text) ? Number(text) : null;
}

function harmonic(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return null;
  return a + b === 0 ? 0 : (2 * a * b) / (a + b);
}
