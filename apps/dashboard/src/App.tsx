import { RouterProvider } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Provider } from 'urql';
import { createClient } from './client.js';
import { SignInPage } from './pages/sign-in/SignInPage.js';
import { router } from './router.js';
import { beginSession, endSession, findSession, SessionContext, takeKeyFromAddress, type Session } from './session.js';

const keyInAddress = takeKeyFromAddress();

/** Signs in, then shows the pages. */
export function App() {
  const [session, setSession] = useState<Session | null | undefined>();
  const client = useMemo(() => session && createClient(() => setSession(null)), [session]);
  const signOut = useCallback(() => {
    void endSession().finally(() => setSession(null));
  }, []);

  useEffect(() => {
    void findSession()
      .then((found) => found ?? (keyInAddress === null ? null : beginSession(keyInAddress)))
      .then(setSession, () => setSession(null));
  }, []);

  if (session === undefined) return null; // a few milliseconds: a skeleton would only flash
  if (!session || !client) return <SignInPage onSession={setSession} />;
  return (
    <Provider value={client}>
      <SessionContext value={{ session, signOut }}>
        <RouterProvider router={router} />
      </SessionContext>
    </Provider>
  );
}
