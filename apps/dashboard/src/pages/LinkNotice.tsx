import { useLink } from '../link.js';

/** Says so when what is on screen may be old. It goes by itself. */
export function LinkNotice() {
  const { lostAt } = useLink();
  if (lostAt === null) return null;
  const since = new Date(lostAt).toLocaleTimeString('en-GB');
  return (
    <p className="behind" role="status">
      The API has not answered since {since}: what you see is as of then. It is being tried again.
    </p>
  );
}
