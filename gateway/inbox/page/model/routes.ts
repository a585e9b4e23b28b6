import type { ReviewTab } from '../../api';

export type Route =
  | { readonly view: 'list'; readonly tab: ReviewTab }
  | { readonly view: 'review'; readonly changeId: string }
  | { readonly view: 'numbers' }
  /** The one-time private seed of an enrolment link, base64url. */
  | { readonly view: 'enroll'; readonly seed: string };

/** Reads the fragment of the address. An unknown one is the list. */
export function routeOf(hash: string): Route {
  const path = hash.replace(/^#\/?/, '');
  const seed = /^enroll=([A-Za-z0-9_-]{1,200})$/.exec(path)?.[1];
  if (seed !== undefined) return { view: 'enroll', seed };
  const changeId = /^review\/([0-9a-f]{64})$/.exec(path)?.[1];
  if (changeId !== undefined) return { view: 'review', changeId };
  if (path === 'numbers') return { view: 'numbers' };
  return { view: 'list', tab: path === 'waiting' || path === 'all' ? path : 'turn' };
}

export function hashOf(route: Exclude<Route, { view: 'enroll' }>): string {
  switch (route.view) {
    case 'list':
      return `#/${route.tab}`;
    case 'review':
      return `#/review/${route.changeId}`;
    case 'numbers':
      return '#/numbers';
    default:
      return route satisfies never;
  }
}
