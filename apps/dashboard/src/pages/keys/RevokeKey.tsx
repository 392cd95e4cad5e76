import { useState } from 'react';
import { useMutation } from 'urql';
import { graphql } from '../../graphql.js';
import { visibleText } from '../../text/visible-text.js';
import { refusalText } from '../../text/refusal.js';

const RevokeMutation = graphql(`
  mutation RevokeKey($id: ID!) {
    revokeApiKey(id: $id) {
      id
      revokedAt
    }
  }
`);

interface RevokeKeyProps {
  readonly id: string;
  readonly name: string;
  readonly isOwn: boolean;
  readonly onRevoked: () => void;
}

/** Asks once more: a revoked key does not come back. */
export function RevokeKey({ id, name, isOwn, onRevoked }: RevokeKeyProps) {
  const [isSure, setSure] = useState(false);
  const [{ fetching, error }, revoke] = useMutation(RevokeMutation);
  if (error) return <span className="lacking">{refusalText(error)}</span>;
  if (!isSure) {
    return (
      <button type="button" aria-label={`Revoke ${visibleText(name)}`} onClick={() => setSure(true)}>
        Revoke
      </button>
    );
  }
  return (
    <span className="labels">
      <button type="button" disabled={fetching} onClick={() => void revoke({ id }).then(onRevoked)}>
        {isOwn ? 'Revoke it and sign out' : 'Revoke for ever'}
      </button>
      <button type="button" className="plain" onClick={() => setSure(false)}>
        Keep
      </button>
    </span>
  );
}
