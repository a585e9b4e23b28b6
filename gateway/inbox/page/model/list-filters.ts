import type { ReviewListQuery, ReviewTab } from '../../api';

/** What a person typed or chose above the list; an empty text does not filter. */
export interface ListFilters {
  readonly search: string;
  readonly tool: string;
  readonly rule: string;
  readonly agent: string;
  readonly tenant: string;
  readonly minAge: string;
  readonly outcome: string;
}

export const NO_FILTERS: ListFilters = {
  search: '',
  tool: '',
  rule: '',
  agent: '',
  tenant: '',
  minAge: '',
  outcome: '',
};

/** The filters that the address has after `?`. */
export function filtersIn(query: string): ListFilters {
  const given = new URLSearchParams(query);
  const filters: Record<keyof ListFilters, string> = { ...NO_FILTERS };
  for (const name of Object.keys(NO_FILTERS) as (keyof ListFilters)[]) filters[name] = given.get(name) ?? '';
  return filters;
}

/** `?search=items&outcome=declined`; an empty text without filters. */
export function textOfFilters(filters: ListFilters): string {
  const set = Object.entries(filters).filter(([, value]) => value !== '');
  return set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`;
}

const MIN_SEARCH = 2;

export function queryOf(tab: ReviewTab, filters: ListFilters): ReviewListQuery {
  const members = Object.entries(filters)
    .map(([name, value]) => [name, value.trim()] as const)
    .filter(([name, value]) => value.length >= (name === 'search' ? MIN_SEARCH : 1));
  return { tab, ...Object.fromEntries(members) };
}

const EMPTY: Readonly<Record<ReviewTab, string>> = {
  turn: 'Nothing waits for you.',
  waiting: 'No review waits for other people.',
  all: 'No review found.',
};

/** What an empty list says. Filters can come from a link, and then reviews can wait that are not listed. */
export function emptyText(tab: ReviewTab, filters: ListFilters): string {
  const isFiltered = Object.keys(queryOf(tab, filters)).length > 1;
  return isFiltered ? 'No review matches the search and the filters.' : EMPTY[tab];
}

export function activeFilters({ search: _typed, ...others }: ListFilters): number {
  return Object.values(others).filter((value) => value.trim() !== '').length;
}

/** Suggestions: other tools can be typed. */
export const TOOLS = ['SQLDryRun', 'SQLCAS', 'GitPatch', 'HTTPPatch', 'TerraformPlan'] as const;

/** In seconds. */
export const AGES: readonly (readonly [seconds: string, text: string])[] = [
  ['600', '10 minutes'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '1 week'],
];

export const OUTCOMES: readonly (readonly [value: string, text: string])[] = [
  ['INTERVENTION_REQUIRED', 'Waits for people'],
  ['COMMITTED', 'Committed'],
  ['ROLLED_BACK', 'Rolled back'],
  ['declined', 'Rolled back: declined'],
  ['forbidden', 'Rolled back: forbidden'],
  ['expired', 'Rolled back: expired'],
  ['withdrawn', 'Rolled back: withdrawn'],
  ['EFFECT_UNKNOWN', 'Effect unknown'],
];
