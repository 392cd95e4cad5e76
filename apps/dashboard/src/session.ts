import { createContext, useContext } from 'react';
import { OUR_OWN } from './client.js';

/** Who is signed in. */
export interface Session {
  readonly keyId: string;
  readonly roles: readonly string[];
  readonly allProjects: boolean;
}

interface SessionAnswer {
  readonly session?: Session | null;
  /** of a refusal */
  readonly detail?: string;
}

export const SessionContext = createContext<{ readonly session: Session; readonly signOut: () => void } | null>(null);

export function useSession() {
  const found = useContext(SessionContext);
  if (!found) throw new Error('nobody is signed in');
  return found;
}

/** What you may not do is not offered; the API refuses it all the same. */
export function mayAnalyze({ roles }: Session): boolean {
  return roles.includes('analyze') || roles.includes('admin');
}

export function mayAdminister({ roles }: Session): boolean {
  return roles.includes('admin');
}

export async function findSession(): Promise<Session | null> {
  const { session = null } = await ask('GET');
  return session;
}

/** @throws Error with a sentence for the person */
export async function beginSession(key: string): Promise<Session> {
  const { session, detail } = await ask('POST', { key });
  if (!session) throw new Error(detail ?? 'the API did not answer as it should');
  return session;
}

export async function endSession(): Promise<void> {
  await fetch('/session', { method: 'DELETE', headers: { 'recredit-csrf': '1' } });
}

async function ask(method: 'GET' | 'POST', body?: object): Promise<SessionAnswer> {
  const response = await fetch('/session', { method, headers: OUR_OWN, ...(body && { body: JSON.stringify(body) }) });
  return (await response.json()) as SessionAnswer;
}

/** A link may carry the key behind its #, which no server sees; it is taken out of the address at once. */
export function takeKeyFromAddress(): string | null {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return key;
}
