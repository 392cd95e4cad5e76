import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkVectors, type CheckedCase, type CheckedVectors, type TrajectoryRecords } from '#lib/credit';
import { trajectoryBatch } from '#lib/dataset';
import { GOLDEN_DIAGNOSTICS, goldenValues, type GoldenInput } from '#lib/diagnostics';
import { messageOf, RecreditError } from '#lib/kernel';
import { trajectoryIssue } from '#lib/protocol';
import { isObject } from '../options.js';
import { compareNested } from './compare-nested.js';
import { readJson } from './read-file.js';

const SHOWN_DIFFERENCES = 8;
const DEFAULT_TOLERANCE = 1e-5;

/** What became of a file of vectors; `problem` where none of it could be checked. */
export interface CheckedFile {
  readonly file: string;
  readonly subject: string | null;
  readonly problem: string | null;
  readonly cases: readonly CheckedCase[];
}

/** The files that paths name: a folder stands for the .json files that lie in it. */
export async function vectorFiles(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const isFolder = await stat(path).then(
        (entry) => entry.isDirectory(),
        (cause: unknown) => {
          throw new RecreditError('file.invalid', `${path} cannot be read: ${messageOf(cause)}`, {}, { cause });
        },
      );
      if (!isFolder) return [path];
      const files = (await readdir(path)).filter((name) => /\.json(\.gz|\.zst)?$/.test(name)).toSorted();
      if (files.length === 0) throw new RecreditError('file.invalid', `${path} holds no .json file`);
      return files.map((name) => join(path, name));
    }),
  );
  return found.flat();
}

export async function checkVectorFile(file: string): Promise<CheckedFile> {
  try {
    const json = await readJson(file);
    const diagnostic = knownDiagnostic(json);
    const { subject, status, cases } = diagnostic ? checkDiagnostic(diagnostic) : checkVectors(json);
    const problem = status === 'checked' ? null : `${status} ${subject}`;
    return { file, subject, problem: problem ?? (cases.length === 0 ? 'it holds no case' : null), cases };
  } catch (error) {
    if (!(error instanceof RecreditError)) throw error;
    return { file, subject: null, problem: error.message, cases: [] };
  }
}

interface DiagnosticFile {
  readonly diagnostic: string;
  readonly cases: readonly unknown[];
}

/** The file of a diagnostic or of an evaluation of annotators; the latter calls itself an estimator. null: another file. */
function knownDiagnostic(json: unknown): DiagnosticFile | null {
  if (!isObject(json) || !Array.isArray(json.cases)) return null;
  const diagnostic = GOLDEN_DIAGNOSTICS.find((known) => known === (json.estimator ?? json.diagnostic));
  return diagnostic === undefined ? null : { diagnostic, cases: json.cases };
}

function checkDiagnostic({ diagnostic, cases }: DiagnosticFile): CheckedVectors {
  return { subject: diagnostic, status: 'checked', cases: cases.map((vector) => checkCase(diagnostic, vector)) };
}

function checkCase(diagnostic: string, vector: unknown): CheckedCase {
  const kinds = ['trajectories', 'trainingSteps', 'checkpoints', 'anchors'] as const;
  if (!isObject(vector) || !kinds.some((kind) => Array.isArray(vector[kind])) || !isObject(vector.expected)) {
    throw new RecreditError('file.invalid', `a case has a name, ${kinds.join(' or ')}, and what is expected`);
  }
  const name = String(vector.name);
  const [trajectories, trainingSteps, checkpoints, anchors] = kinds.map((kind) => listOf(vector[kind]));
  for (const [i, record] of trajectories.entries()) {
    const issue = trajectoryIssue(record);
    if (!issue) continue;
    throw new RecreditError(
      'file.invalid',
      `${name}: trajectories[${i}]${issue.pointer}: expected ${issue.expected}, found ${issue.found}`,
    );
  }
  const tolerance = typeof vector.tolerance === 'number' ? vector.tolerance : DEFAULT_TOLERANCE;
  const params = isObject(vector.params) ? vector.params : {};
  const input = {
    trajectories: trajectoryBatch(trajectories as TrajectoryRecords, { exactTokens: true }),
    trainingSteps: trainingSteps as GoldenInput['trainingSteps'],
    checkpoints,
    anchors,
  };
  const found = goldenValues(diagnostic, input, params);
  const { largestError, differences } = compareNested(vector.expected, found, tolerance);
  const ok = differences.length === 0;
  return { name, ok, largestError, tolerance, differences: differences.slice(0, SHOWN_DIFFERENCES) };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
