import { Link } from '@tanstack/react-router';
import { Empty } from '../ui/Notice.js';

export function NotFoundPage() {
  return (
    <Empty title="There is no such page">
      <Link to="/runs">See all runs</Link>
    </Empty>
  );
}
