import { Link, Outlet } from '@tanstack/react-router';
import icon from '../styles/icon.svg';
import { LinkNotice } from './LinkNotice.js';
import { mayAdminister, useSession } from '../session.js';

export function Layout() {
  const { session, signOut } = useSession();
  return (
    <>
      <header className="top">
        <Link to="/runs" className="brand">
          <img src={icon} alt="" />
          Recredit
        </Link>
        <nav aria-label="Pages">
          <Link to="/runs">Runs</Link>
          <Link to="/devices">Devices</Link>
          {mayAdminister(session) && <Link to="/keys">Keys</Link>}
        </nav>
        <div className="end">
          <span className="hint">{session.roles.join(', ')}</span>
          <button type="button" className="plain" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <LinkNotice />
      <main>
        <Outlet />
      </main>
    </>
  );
}
