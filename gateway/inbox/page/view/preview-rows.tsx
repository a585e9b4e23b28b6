import type { JSX } from 'preact';
import { escapeLine } from '../../../../policy/text/escape';
import { columnOrder } from '../../../../policy/text/column-order';
import type { Preview, PreviewCell, PreviewTable } from '../model/preview-table';
import { SafeText } from './safe-text';

/** Rows before and after. All are there; a long table scrolls. */
export function PreviewRows({ preview: { tables, moreTables, other } }: { readonly preview: Preview }): JSX.Element {
  return (
    <>
      {tables.map((table, i) => (
        <Table key={i} table={table} />
      ))}
      {moreTables > 0 && <p class="warning">And {moreTables} more tables, whose rows are not shown.</p>}
      {other.length > 0 && (
        <dl class="headers">
          {other.map(([name, json]) => (
            <div key={name}>
              <dt>
                <SafeText text={name} />
              </dt>
              <dd>
                <code>
                  <SafeText text={json} />
                </code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function Table({ table: { table, total, columns, rows } }: { readonly table: PreviewTable }): JSX.Element {
  const order = columnOrder(columns);
  return (
    <div class="table-scroll rows" tabIndex={0} role="group" aria-label={`Rows of ${escapeLine(table)}`}>
      <table>
        <caption>
          <SafeText text={table} />: {rows.length} of {total} rows, before → after
        </caption>
        <thead>
          <tr>
            <th scope="col">Row</th>
            {order.map((i) => (
              <th scope="col" key={i} class={columns[i]?.changes === true ? 'changes' : undefined}>
                <SafeText text={columns[i]?.name ?? ''} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ kind, cells }, n) => (
            <tr key={n} class={kind}>
              <th scope="row">
                {n + 1} <span class="kind">{kind}</span>
              </th>
              {order.map((i) => (
                <Cell key={i} cell={cells[i]} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const CELL_CLASSES = { same: 'same', added: '', removed: '', changed: 'changed', not_compared: 'changed' } as const;
const MAX_ONE_LINE = 32;

/** A value that stays, or the old one, the new one, or both. */
function Cell({ cell }: { readonly cell: PreviewCell | undefined }): JSX.Element {
  if (cell === undefined) return <td />;
  const { before, after, state } = cell;
  const length = (before ?? '').length + (state === 'same' ? 0 : (after ?? '').length);
  return (
    <td class={`${CELL_CLASSES[state]}${length <= MAX_ONE_LINE ? ' short' : ''}`}>
      {state === 'same' ? (
        <SafeText text={before ?? ''} />
      ) : (
        <>
          {before !== null && (
            <del>
              <SafeText text={before} />
            </del>
          )}
          {before !== null && after !== null && (
            <span role="img" aria-label="becomes">
              {' → '}
            </span>
          )}
          {after !== null && (
            <ins class={state === 'not_compared' ? 'not-compared' : undefined}>
              <SafeText text={after} />
            </ins>
          )}
        </>
      )}
    </td>
  );
}
