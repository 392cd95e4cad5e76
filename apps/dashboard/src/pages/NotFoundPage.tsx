import { Link } from '@tanstack/react-router';
import { Head } from '../ui/Crumbs.js';
import { Empty } from '../ui/Notice.js';

export function NotFoundPage() {
  return (
    <>
      <Head title="No such page" />
      <Empty title="Nothing stands at this address">
        <Link to="/runs">See all runs</Link>
      </Empty>
    </>
  );
}
