import type { Confined } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import type { Key, KeyPart, Order } from '../graphql/cursor.js';
import { RunSort, type Run, type RunFilter, type RunOrder } from './run.object.js';

const MOST_CHARACTERS = 200;
const MOST_WORDS = 10;

/** A run and what its list is sorted by. */
export interface ListedRun extends Run {
  readonly sortKey: string | number | Date;
}

/** Which runs, in which order; checked. */
export interface RunList {
  readonly project: string | null;
  readonly words: readonly string[];
  readonly state: string | null;
  readonly hasOpenAlerts: boolean | null;
  readonly by: RunSort;
  readonly descending: boolean;
  readonly order: Order<ListedRun>;
}

interface Sorting {
  readonly part: KeyPart;
  readonly type: 'text' | 'float8' | 'timestamptz';
  readonly from?: string;
  /** never null: what is not known is replaced by what stands last */
  readonly key: (descending: boolean) => string;
}

const PROGRESS = 'left join run_progress on run_progress.run_id = run.id';
const STATE = `coalesce(run_progress.state, 'running')`;
const PROJECT = '(select project.name from project where project.id = run.project_id)';
const OPEN_ALERTS = 'from alert where alert.run_id = run.id and alert.closed_as_of is null';
/** Where words are looked for. A config is long, so its case is folded by bytes, in half the time. */
const TEXTS = `lower(concat_ws(' ', run.name, run.id, ${PROJECT})) as names,
  lower(run.config::text collate "C") as config_text`;
/** A level outweighs any number of alerts of the level below. */
const ALERT_RANK = `(select count(*) + 1e9 * max(case level when 'critical' then 3 when 'warn' then 2 else 1 end) ${OPEN_ALERTS})`;

const number = (key: string, from = PROGRESS): Sorting => ({
  part: 'number',
  type: 'float8',
  from,
  key: () => `${key}::float8`,
});

const SORTINGS: Readonly<Record<RunSort, Sorting>> = {
  [RunSort.CREATED]: { part: 'instant', type: 'timestamptz', key: () => 'run.created_at' },
  [RunSort.NAME]: { part: 'text', type: 'text', key: () => 'lower(run.name)' },
  [RunSort.PROJECT]: { part: 'text', type: 'text', key: () => `lower(${PROJECT})` },
  [RunSort.STATE]: { part: 'text', type: 'text', from: PROGRESS, key: () => STATE },
  [RunSort.ALERTS]: number(`coalesce(${ALERT_RANK}, 0)`, ''),
  [RunSort.TRAINING_STEPS]: number('coalesce(run_progress.training_step_max, -1)'),
  [RunSort.TRAJECTORIES]: number('coalesce(run_progress.trajectory_count, 0)'),
  [RunSort.TURNS]: number('coalesce(run_progress.turn_count, 0)'),
  [RunSort.SUCCESS_RATE]: {
    ...number(''),
    key: (descending) =>
      `coalesce(run_progress.success_count::float8 / nullif(run_progress.judged_count, 0), ${descending ? -1 : 2})`,
  },
  [RunSort.LAST_EVENT]: {
    part: 'instant',
    type: 'timestamptz',
    from: PROGRESS,
    key: (descending) =>
      `coalesce(run_progress.last_event_at, timestamptz '${descending ? '0001-01-01' : '9999-12-31'} 00:00:00Z')`,
  },
};

/** @throws RecreditError `query.invalid` */
export function runListOf(
  project: string | null | undefined,
  filter: RunFilter | null | undefined,
  order: RunOrder | null | undefined,
): RunList {
  const by = order?.by ?? RunSort.CREATED;
  const descending = order ? (order.descending ?? false) : true;
  return {
    project: project ?? null,
    words: wordsOf(filter?.text ?? ''),
    state: filter?.state ?? null,
    hasOpenAlerts: filter?.hasOpenAlerts ?? null,
    by,
    descending,
    order: {
      parts: [{ is: `${descending ? '-' : ''}${by}` }, SORTINGS[by].part, 'text'],
      keyOf: ({ sortKey, id }) => [
        `${descending ? '-' : ''}${by}`,
        sortKey instanceof Date ? sortKey.toISOString() : sortKey,
        id,
      ],
    },
  };
}

function wordsOf(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (text.length > MOST_CHARACTERS || words.length > MOST_WORDS) {
    const wanted = `up to ${MOST_WORDS} words and ${MOST_CHARACTERS} characters were wanted`;
    throw new RecreditError('query.invalid', `text: ${wanted}, found ${words.length} and ${text.length}`);
  }
  return words;
}

/** The rows after a key. What they are sorted by may change while somebody pages: a run can then come twice, or not. */
export function listRuns(db: Confined, list: RunList, limit: number, after: Key | null): Promise<ListedRun[]> {
  const { key, from = '', type } = SORTINGS[list.by];
  const [beyond, direction] = list.descending ? ['<', 'desc'] : ['>', 'asc'];
  const { params, given } = parameters();
  const runs = matching(list, given, `run.*, ${key(list.descending)} as sort_key`, from);
  const rest = after ? `where (sort_key, id) ${beyond} (${given(after[1])}::${type}, ${given(after[2])})` : '';
  return db.query<ListedRun>(
    `select id, name, config, created_at as "createdAt", ${PROJECT} as project, sort_key as "sortKey"
     from (${runs}) as run ${rest} order by sort_key ${direction}, id ${direction} limit ${given(limit)}`,
    params,
  );
}

/** How many runs the list has, on all its pages. */
export async function countRuns(db: Confined, list: RunList): Promise<number> {
  const { params, given } = parameters();
  const [{ count }] = await db.query<{ count: number }>(
    `select count(*)::integer as count from (${matching(list, given, 'run.*', '')}) as run`,
    params,
  );
  return count;
}

/**
 * The runs of a list. Only tables that it needs are joined: every row of them is held against row-level security. Words
 * cost the most, so they are looked for last, in what the other conditions leave: `offset 0` keeps them there.
 */
function matching(list: RunList, given: (value: unknown) => string, columns: string, sorted: string): string {
  const progress = list.state !== null && sorted !== PROGRESS ? PROGRESS : '';
  const conditions = ['true', ...conditionsOf(list, given)].join(' and ');
  const from = `from run ${sorted} ${progress} where ${conditions}`;
  if (list.words.length === 0) return `select ${columns} ${from}`;
  const words = list.words.map((word) => mentions(given(word))).join(' and ');
  return `select * from (select ${columns}, ${TEXTS} ${from} offset 0) as run where ${words}`;
}

function conditionsOf({ project, state, hasOpenAlerts }: RunList, given: (value: unknown) => string): string[] {
  const conditions: string[] = [];
  if (project !== null) conditions.push(`run.project_id = (select id from project where name = ${given(project)})`);
  if (state !== null) conditions.push(`${STATE} = ${given(state)}`);
  if (hasOpenAlerts !== null) conditions.push(`${hasOpenAlerts ? '' : 'not '}exists (select ${OPEN_ALERTS})`);
  return conditions;
}

const mentions = (word: string): string =>
  `(strpos(names, lower(${word}::text)) > 0 or strpos(config_text, lower(${word}::text collate "C")) > 0)`;

/** Values of a statement, and the places that stand for them. */
function parameters() {
  const params: unknown[] = [];
  return { params, given: (value: unknown) => `$${params.push(value)}` };
}
