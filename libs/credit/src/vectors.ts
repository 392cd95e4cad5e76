import { RecreditError } from '#lib/kernel';
import { areSimilar, indexText, textSimilarity } from '#lib/numeric';
import { z } from 'zod';
import { comparePartitions, compareValues, type Findings } from './compare-values.js';
import { estimate, type Estimate } from './estimate.js';
import type { AnyEstimator } from './estimator.js';
import { ESTIMATORS } from './estimators/index.js';
import { missingText } from './needs.js';
import type { Nested } from './nest.js';
import { AS_RECORDED } from './state-identity.js';
import { EstimatorCase, recordsOf } from './vector-records.js';

/** Where a file does not say how near is near enough. */
const DEFAULT_TOLERANCE = 1e-5;
const SHOWN_DIFFERENCES = 8;
const TEXT_SIMILARITY = 'difflib-ratio';

const TextCase = z.looseObject({
  name: z.string(),
  tolerance: z.number().nonnegative().optional(),
  pairs: z.array(
    z.looseObject({ a: z.string(), b: z.string(), ratio: z.number(), similarAt095: z.boolean().optional() }),
  ),
});

const VectorFile = z.looseObject({
  estimator: z.string().optional(),
  diagnostic: z.string().optional(),
  cases: z.array(z.looseObject({ name: z.string() })),
});

export interface CheckedCase {
  readonly name: string;
  readonly ok: boolean;
  readonly largestError: number;
  readonly tolerance: number;
  /** empty: agrees */
  readonly differences: readonly string[];
}

/** What became of a vector file. `checked` alone can pass. */
export interface CheckedVectors {
  /** the id that the file is about */
  readonly subject: string;
  readonly status: 'checked' | 'unknown estimator' | 'unknown diagnostic';
  readonly cases: readonly CheckedCase[];
}

/** Runs a vector file's content: an estimator's, or the text similarity's. Its own mistakes throw `file.invalid`. */
export function checkVectors(json: unknown, estimators: readonly AnyEstimator[] = ESTIMATORS): CheckedVectors {
  const file = parsed(VectorFile, json, 'a vector file');
  const subject = file.estimator ?? file.diagnostic;
  if (subject === undefined) throw new RecreditError('file.invalid', 'a vector file names its estimator or diagnostic');
  if (file.estimator === undefined) return { subject, status: 'unknown diagnostic', cases: [] };
  if (subject === TEXT_SIMILARITY) return { subject, status: 'checked', cases: file.cases.map(checkTexts) };

  const estimator = estimators.find(({ id }) => id === subject);
  if (!estimator) return { subject, status: 'unknown estimator', cases: [] };
  return { subject, status: 'checked', cases: file.cases.map((vector) => checkCase(estimator, vector)) };
}

/** Where an estimator disagrees with a golden case; nothing where it agrees. */
export function differences(estimator: AnyEstimator, vector: unknown): readonly string[] {
  return checkCase(estimator, vector).differences;
}

function checkCase(estimator: AnyEstimator, json: unknown): CheckedCase {
  const vector = parsed(EstimatorCase, json, 'a case');
  const tolerance = vector.tolerance ?? DEFAULT_TOLERANCE;
  const findings: Findings = { largestError: 0, differences: [] };
  try {
    const result = estimate(estimator, recordsOf(vector), vector.params, AS_RECORDED, true);
    if (result.kind === 'missing') findings.differences.push(missingText(result.missing));
    else compareColumns(vector.items ? perItem(result) : result, vector.expected, tolerance, findings);
  } catch (error) {
    if (!(error instanceof RecreditError)) throw error;
    findings.differences.push(error.message);
  }
  return checked(vector.name, tolerance, findings);
}

function compareColumns(
  result: Estimate,
  expected: Readonly<Record<string, unknown>>,
  tolerance: number,
  into: Findings,
): void {
  const { trajectoryAdvantage, turnAdvantage, tokenAdvantage } = result;
  const columns = Object.entries(result.columns).flatMap(([name, column]) => inColumns(name, column));
  const given: Record<string, unknown> = {
    trajectoryAdvantage,
    turnAdvantage,
    tokenAdvantage,
    ...Object.fromEntries(columns),
  };
  const there = Object.keys(given).filter((name) => given[name] !== undefined);
  const wanted = Object.entries(expected).flatMap(([name, want]) => inColumns(name, perGroup(want, result.groups)));
  for (const [name, want] of wanted) {
    if (given[name] === undefined) {
      into.differences.push(`${name}: ${result.estimator} gives no such column; it gives ${there.join(', ')}`);
    } else if (result.partitions.includes(name)) {
      comparePartitions(given[name], want, name, into);
    } else {
      compareValues(given[name], want, tolerance, name, into);
    }
  }
}

/** An object is a column per key, `name.key`; so is a list of objects, each column a list. */
function inColumns(name: string, want: unknown): (readonly [name: string, want: unknown])[] {
  if (isObject(want)) return Object.entries(want).map(([key, value]) => [`${name}.${key}`, value]);
  if (!Array.isArray(want) || want.length === 0 || !want.every(isObject)) return [[name, want]];
  const keys = new Set(want.flatMap((entry) => Object.keys(entry)));
  return [...keys].map((key) => [`${name}.${key}`, want.map((entry) => entry[key] ?? null)]);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A dictionary by group is the list of its values in the order of the groups. */
function perGroup(want: unknown, groups: readonly string[]): unknown {
  if (!isObject(want)) return want;
  const byGroup = new Map(Object.entries(want));
  return groups.length === byGroup.size && groups.every((group) => byGroup.has(group))
    ? groups.map((group) => byGroup.get(group))
    : want;
}

/** Columns of turns that are alone in their trajectory, without the list of one around each. */
function perItem(result: Estimate): Estimate {
  const entries = Object.entries(result.columns).map(([name, column]) => [name, Array.isArray(column) ? column.flat(1) : column]); // prettier-ignore
  return { ...result, columns: Object.fromEntries(entries) as Record<string, Nested> };
}

function checkTexts(json: unknown): CheckedCase {
  const vector = parsed(TextCase, json, 'a case of text pairs');
  const tolerance = vector.tolerance ?? 1e-12;
  const findings: Findings = { largestError: 0, differences: [] };
  vector.pairs.forEach(({ a, b, ratio, similarAt095 }, i) => {
    compareValues(textSimilarity(a, b), ratio, tolerance, `pairs[${i}].ratio`, findings);
    if (similarAt095 === undefined) return;
    const similar = areSimilar(indexText(a), indexText(b), 0.95);
    compareValues(similar, similarAt095, 0, `pairs[${i}].similarAt095`, findings);
  });
  return checked(vector.name, tolerance, findings);
}

function checked(name: string, tolerance: number, { largestError, differences }: Findings): CheckedCase {
  const more = differences.length - SHOWN_DIFFERENCES;
  const shown = differences.slice(0, SHOWN_DIFFERENCES);
  if (more > 0) shown.push(`... and ${more} more`);
  return { name, ok: differences.length === 0, largestError, tolerance, differences: shown };
}

function parsed<Schema extends z.ZodType>(schema: Schema, json: unknown, what: string): z.infer<Schema> {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  throw new RecreditError('file.invalid', `this is not ${what}: ${z.prettifyError(result.error)}`);
}
