import type { JSX } from 'preact';
import { activeFilters, AGES, NO_FILTERS, OUTCOMES, TOOLS, type ListFilters } from '../model/list-filters';

interface Props {
  readonly filters: ListFilters;
  readonly onChange: (filters: ListFilters) => void;
}

/** Search and filters of the list. */
export function Filters({ filters, onChange }: Props): JSX.Element {
  const active = activeFilters(filters);
  const text = (name: keyof ListFilters, label: string, known: readonly string[] = []): JSX.Element => (
    <label>
      {label}
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        list={known.length === 0 ? undefined : `known-${name}`}
        value={filters[name]}
        onInput={({ currentTarget }) => onChange({ ...filters, [name]: currentTarget.value })}
      />
      {known.length > 0 && (
        <datalist id={`known-${name}`}>
          {known.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </label>
  );
  const choice = (
    name: keyof ListFilters,
    label: string,
    options: readonly (readonly [string, string])[],
  ): JSX.Element => (
    <label>
      {label}
      <select
        value={filters[name]}
        onChange={({ currentTarget }) => onChange({ ...filters, [name]: currentTarget.value })}
      >
        <option value="">Any</option>
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <form class="filters" role="search" aria-label="Reviews" onSubmit={(event) => event.preventDefault()}>
      <label class="search">
        Search
        <input
          id="search"
          type="search"
          autocomplete="off"
          spellcheck={false}
          placeholder="Title or id"
          value={filters.search}
          onInput={({ currentTarget }) => onChange({ ...filters, search: currentTarget.value })}
        />
      </label>
      <details>
        <summary>{active === 0 ? 'Filters' : `Filters (${active})`}</summary>
        <div class="filter-fields">
          {text('tool', 'Tool', TOOLS)}
          {text('rule', 'Rule')}
          {text('agent', 'Asked by')}
          {text('tenant', 'Tenant')}
          {choice('minAge', 'Older than', AGES)}
          {choice('outcome', 'Outcome', OUTCOMES)}
          <button type="button" onClick={() => onChange({ ...NO_FILTERS, search: filters.search })}>
            Clear filters
          </button>
        </div>
      </details>
    </form>
  );
}
