import { Link } from '@tanstack/react-router';
import { Empty } from '../ui/Notice.js';

/** A run that there is not, or that this key does not see. */
export function NoSuchRun() {
  return (
    <Empty title="You see no such run">
      <p>It may belong to a project that your key does not reach.</p>
      <Link to="/runs">See all runs</Link>
    </Empty>
  );
}
