import type { VariablesOf } from '../../graphql.js';
import type { RunsQuery } from './queries.js';

type Variables = VariablesOf<typeof RunsQuery>;

export const STATES = ['RUNNING', 'COMPLETED', 'STOPPED', 'FAILED', 'ERASED'] as const;

/** What the address says of the list of runs. */
export interface RunSearch {
  readonly text?: string | undefined;
  readonly project?: string | undefined;
  readonly state?: string | undefined;
  /** open or none */
  readonly alerts?: string | undefined;
  readonly sort?: string | undefined;
}

/** By the columns that sort. */
const SORTS = {
  name: 'NAME',
  project: 'PROJECT',
  state: 'STATE',
  alerts: 'ALERTS',
  steps: 'TRAINING_STEPS',
  trajectories: 'TRAJECTORIES',
  turns: 'TURNS',
  success: 'SUCCESS_RATE',
  last: 'LAST_EVENT',
} as const;

/** What the API is asked for; what it would not know is left out. */
export function runListOf(search: RunSearch): Pick<Variables, 'project' | 'filter' | 'order'> {
  const by = Object.entries(SORTS).find(([column]) => column === search.sort?.replace(/^-/, ''))?.[1];
  return {
    project: search.project ?? null,
    filter: {
      text: search.text ?? null,
      state: STATES.find((state) => state === search.state) ?? null,
      hasOpenAlerts: search.alerts === 'open' ? true : search.alerts === 'none' ? false : null,
    },
    order: by ? { by, descending: search.sort?.startsWith('-') ?? false } : null,
  };
}
