import { useState } from 'react';
import { useMutation } from 'urql';
import { graphql } from '../../graphql.js';
import { useSession } from '../../session.js';
import { Panel } from '../../ui/Panel.js';
import { submitted } from '../../ui/submitted.js';
import { refusalText } from '../../text/refusal.js';

const CreateMutation = graphql(`
  mutation CreateKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      text
      key {
        id
        name
      }
    }
  }
`);

const ROLES = [
  ['INGEST', 'append events of runs'],
  ['READ', 'see runs and what was computed of them'],
  ['ANALYZE', 'start analyses and audits, annotate'],
  ['ADMIN', 'all of it, and keys'],
] as const;
type Role = (typeof ROLES)[number][0];

interface CreateKeyProps {
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  readonly onMade: () => void;
}

/** Makes a key and shows it this once. */
export function CreateKey({ projects, onMade }: CreateKeyProps) {
  const { session } = useSession();
  const [{ data, fetching, error }, create] = useMutation(CreateMutation);
  const [name, setName] = useState('');
  const [project, setProject] = useState(projects.at(0)?.name ?? '');
  const [roles, setRoles] = useState<readonly Role[]>(['READ']);
  const made = data?.createApiKey;
  const submit = async () => {
    const input = { name: name.trim(), roles: [...roles], ...(project !== '' && { project }) };
    const answer = await create({ input });
    if (answer.data) {
      setName('');
      onMade();
    }
  };
  return (
    <Panel title="Make a key">
      <form onSubmit={submitted(submit)}>
        <div className="filters">
          <label>
            Name
            <input
              value={name}
              required
              maxLength={100}
              placeholder="who or what it is for"
              onChange={({ target }) => setName(target.value)}
            />
          </label>
          <label>
            Project
            <select value={project} onChange={({ target }) => setProject(target.value)}>
              {session.allProjects && <option value="">every project</option>}
              {projects.map((one) => (
                <option key={one.id}>{one.name}</option>
              ))}
            </select>
          </label>
        </div>
        <fieldset className="estimators">
          <legend className="hint">Roles</legend>
          {ROLES.map(([role, what]) => (
            <div key={role} className="estimator">
              <input
                id={`role-${role}`}
                type="checkbox"
                checked={roles.includes(role)}
                onChange={({ target }) =>
                  setRoles((old) => (target.checked ? [...old, role] : old.filter((one) => one !== role)))
                }
              />
              <div>
                <label htmlFor={`role-${role}`}>{role.toLowerCase()}</label>
                <p>{what}</p>
              </div>
            </div>
          ))}
        </fieldset>
        {error && (
          <p className="lacking" role="alert">
            {refusalText(error)}
          </p>
        )}
        <div className="form-end">
          <button className="primary" disabled={fetching || roles.length === 0 || name.trim() === ''}>
            Make
          </button>
        </div>
      </form>
      {made && (
        <div className="made-key" role="status">
          <p>
            The key of <b>{made.key.name}</b>, shown this once. Only a hash of it is kept.
          </p>
          <div className="filters">
            <code>{made.text}</code>
            <button type="button" onClick={() => void navigator.clipboard?.writeText(made.text)}>
              Copy
            </button>
          </div>
        </div>
      )}
    </Panel>
  );
}
