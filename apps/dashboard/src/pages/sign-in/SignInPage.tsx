import { useState } from 'react';
import icon from '../../styles/icon.svg';
import { beginSession, type Session } from '../../session.js';

/** Asks for an API key; the browser keeps it out of reach of scripts. */
export function SignInPage({ onSession }: { readonly onSession: (session: Session) => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const signIn = async (key: string) => {
    setBusy(true);
    try {
      onSession(await beginSession(key.trim()));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };

  return (
    <div className="sign-in">
      <div className="panel">
        <h1 className="brand">
          <img src={icon} alt="" />
          Recredit
        </h1>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void signIn(event.currentTarget.querySelector('input')?.value ?? '');
          }}
        >
          <label htmlFor="key">API key</label>
          <input
            id="key"
            name="key"
            type="password"
            autoComplete="current-password"
            placeholder="rk_…"
            required
            autoFocus
          />
          {problem && (
            <p className="lacking" role="alert">
              {problem}
            </p>
          )}
          <button className="primary" disabled={isBusy}>
            Sign in
          </button>
          <p className="hint">
            The first start prints an admin key and keeps it in <code>RECREDIT_HOME/first-key</code>. More are made by{' '}
            <code>recredit keys create</code>.
          </p>
        </form>
      </div>
    </div>
  );
}
