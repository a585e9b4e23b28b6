import type { JSX } from 'preact';
import { escapeLine } from '../../../../policy/text/escape';
import { columnOrder, type Preview, type PreviewCell, type PreviewTable } from '../model/preview-table';
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

const KIND_WORDS = { insert: 'insert', update: 'update', delete: 'delete' } as const;

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
                {n + 1} <span class="kind">{KIND_WORDS[kind]}</span>
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

function Cell({ cell }: { readonly cell: PreviewCell | undefined }): JSX.Element {
  if (cell === undefined) return <td />;
  const { before, after, state } = cell;
  switch (state) {
    case 'same':
      return (
        <td class={`same${short(before)}`}>
          <SafeText text={before ?? ''} />
        </td>
      );
    case 'added':
      return (
        <td class={short(after)}>
          <ins>
            <SafeText text={after ?? ''} />
          </ins>
        </td>
      );
    case 'removed':
      return (
        <td class={short(before)}>
          <del>
            <SafeText text={before ?? ''} />
          </del>
        </td>
      );
    case 'changed':
    case 'not_compared':
      return (
        <td class={`changed${short(`${before ?? ''}${after ?? ''}`)}`}>
          <del>
            <SafeText text={before ?? ''} />
          </del>{' '}
          <span aria-hidden="true">→</span>{' '}
          <ins class={state === 'not_compared' ? 'not-compared' : undefined}>
            <SafeText text={after ?? ''} />
          </ins>
        </td>
      );
    default:
      return state satisfies never;
  }
}

const MAX_ONE_LINE = 32;

/** Class of a cell whose text is not broken into lines. */
function short(text: string | null): string {
  return (text ?? '').length <= MAX_ONE_LINE ? ' short' : '';
}
