import { useAsked } from '../../use-asked.js';
import { useTyped } from '../../use-typed.js';
import { ProjectsQuery } from './queries.js';
import { STATES, type RunSearch } from './run-list.js';

interface RunFiltersProps {
  readonly search: RunSearch;
  readonly onChange: (next: { readonly [Name in keyof RunSearch]?: string | undefined }) => void;
}

const TYPING_MS = 250;

/** Which runs are listed. What somebody types is asked for when they pause. */
export function RunFilters({ search, onChange }: RunFiltersProps) {
  const [text, type] = useTyped(search.text ?? '', (text) => onChange({ text }), TYPING_MS);
  const { data } = useAsked({ query: ProjectsQuery, variables: {} });
  const projects = data?.projects.edges.map(({ node }) => node.name) ?? [];
  const isUnlisted = search.project !== undefined && !projects.includes(search.project);
  return (
    <>
      <label>
        <span className="visually-hidden">Filter</span>
        <input
          type="search"
          placeholder="Name, id, project or config"
          maxLength={200}
          value={text}
          onChange={({ target }) => type(target.value)}
        />
      </label>
      <label>
        State
        <select value={search.state ?? ''} onChange={({ target }) => onChange({ state: target.value })}>
          <option value="">any</option>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {state.toLowerCase()}
            </option>
          ))}
        </select>
      </label>
      <label>
        Alerts
        <select value={search.alerts ?? ''} onChange={({ target }) => onChange({ alerts: target.value })}>
          <option value="">any</option>
          <option value="open">open</option>
          <option value="none">none</option>
        </select>
      </label>
      <label>
        Project
        <select
          className="project-choice"
          value={search.project ?? ''}
          onChange={({ target }) => onChange({ project: target.value })}
        >
          <option value="">all</option>
          {isUnlisted && <option>{search.project}</option>}
          {projects.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </>
  );
}
