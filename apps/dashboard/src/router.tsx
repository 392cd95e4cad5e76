import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { Layout } from './pages/Layout.js';
import { NotFoundPage } from './pages/NotFoundPage.js';
import { RunsPage } from './pages/runs/RunsPage.js';
import { said } from './said.js';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
const whole = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? Number(value) : undefined);
const position = (value: unknown): number | undefined => (Number(whole(value)) >= 0 ? Number(value) : undefined);
const root = createRootRoute({ component: Layout, notFoundComponent: NotFoundPage });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/runs' });
  },
});

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  component: RunsPage,
  validateSearch: (search) =>
    said({
      text: text(search.text),
      project: text(search.project),
      state: text(search.state),
      alerts: text(search.alerts),
      sort: text(search.sort),
      row: position(search.row),
      pick: text(search.pick),
    }),
});

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$run',
  component: lazyRouteComponent(() => import('./pages/run/RunPage.js'), 'RunPage'),
  validateSearch: (search) =>
    said({
      curves: text(search.curves),
      steps: text(search.steps),
      row: position(search.row),
      diagnostic: text(search.diagnostic),
    }),
});

const plan = createRoute({
  getParentRoute: () => root,
  path: '/runs/$run/plan',
  component: lazyRouteComponent(() => import('./pages/plan/PlanPage.js'), 'PlanPage'),
  validateSearch: (search) => said({ band: text(search.band), restart: text(search.restart), long: text(search.long) }),
});

const step = createRoute({
  getParentRoute: () => root,
  path: '/runs/$run/steps/$step',
  component: lazyRouteComponent(() => import('./pages/groups/GroupsPage.js'), 'GroupsPage'),
  validateSearch: (search) =>
    said({
      group: text(search.group),
      sort: text(search.sort),
      row: position(search.row),
      state: text(search.state),
      credit: text(search.credit),
    }),
});

const trajectory = createRoute({
  getParentRoute: () => root,
  path: '/runs/$run/trajectories/$trajectory',
  component: lazyRouteComponent(() => import('./pages/trajectory/TrajectoryPage.js'), 'TrajectoryPage'),
  validateSearch: (search) =>
    said({ analysis: text(search.analysis), turn: whole(search.turn), tokens: text(search.tokens) }),
});

const analysis = createRoute({
  getParentRoute: () => root,
  path: '/analyses/$analysis',
  component: lazyRouteComponent(() => import('./pages/comparison/ComparisonPage.js'), 'ComparisonPage'),
  validateSearch: (search) =>
    said({
      sort: text(search.sort),
      truth: text(search.truth),
      by: text(search.by),
      x: text(search.x),
      y: text(search.y),
      area: text(search.area),
      tag: text(search.tag),
      value: text(search.value),
      pairs: text(search.pairs),
      labels: text(search.labels),
      score: text(search.score),
      disputed: search.disputed === 'all' ? 'all' : undefined,
    }),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audits/$audit',
  component: lazyRouteComponent(() => import('./pages/audit/AuditPage.js'), 'AuditPage'),
});

const events = createRoute({
  getParentRoute: () => root,
  path: '/runs/$run/events',
  component: lazyRouteComponent(() => import('./pages/events/EventsPage.js'), 'EventsPage'),
  validateSearch: (search) =>
    said({ before: position(search.before), event: position(search.event), row: position(search.row) }),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/keys/KeysPage.js'), 'KeysPage'),
  validateSearch: (search) => said({ row: position(search.row) }),
});

const devices = createRoute({
  getParentRoute: () => root,
  path: '/devices',
  component: lazyRouteComponent(() => import('./pages/devices/DevicesPage.js'), 'DevicesPage'),
});

const compare = createRoute({
  getParentRoute: () => root,
  path: '/compare',
  component: lazyRouteComponent(() => import('./pages/compare/ComparePage.js'), 'ComparePage'),
  validateSearch: (search) =>
    said({ a: text(search.a), b: text(search.b), curves: text(search.curves), steps: text(search.steps) }),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    runs,
    run,
    plan,
    step,
    trajectory,
    analysis,
    audit,
    events,
    keys,
    devices,
    compare,
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
