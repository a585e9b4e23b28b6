import type { ReviewTab } from '../../api';
import { filtersIn, NO_FILTERS, textOfFilters, type ListFilters } from './list-filters';

export type Route =
  | { readonly view: 'list'; readonly tab: ReviewTab; readonly filters: ListFilters }
  | { readonly view: 'review'; readonly changeId: string }
  | { readonly view: 'numbers' }
  /** The fragment of an enrolment link, which contains its one-time private seed. */
  | { readonly view: 'enroll'; readonly fragment: string };

export const YOUR_TURN = { view: 'list', tab: 'turn', filters: NO_FILTERS } as const satisfies Route;

/** Reads the fragment of the address. An unknown one is the list. */
export function routeOf(hash: string): Route {
  if (/^#enroll=[A-Za-z0-9_-]{1,200}$/.test(hash)) return { view: 'enroll', fragment: hash };
  const path = hash.replace(/^#\/?/, '');
  const changeId = /^review\/([0-9a-f]{64})$/.exec(path)?.[1];
  if (changeId !== undefined) return { view: 'review', changeId };
  if (path === 'numbers') return { view: 'numbers' };
  const [tab, filters] = path.split('?', 2);
  return { view: 'list', tab: tab === 'waiting' || tab === 'all' ? tab : 'turn', filters: filtersIn(filters ?? '') };
}

export function hashOf(route: Exclude<Route, { view: 'enroll' }>): string {
  switch (route.view) {
    case 'list':
      return `#/${route.tab}${textOfFilters(route.filters)}`;
    case 'review':
      return `#/review/${route.changeId}`;
    case 'numbers':
      return '#/numbers';
    default:
      return route satisfies never;
  }
}
