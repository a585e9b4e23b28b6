import fc from 'fast-check';
import type { Capture } from '../../../../source-tools/sql/staging/capture';
import { previewOf } from '../../../../source-tools/sql/staging/preview';

type Cells = Readonly<Record<string, string | null>>;

/** What is shown after these rows were inserted into a table with this primary key; `hidden` is not compared. */
function shown(rows: readonly Cells[], key: readonly string[] | null = ['id'], hidden: readonly string[] = []) {
  const capture: Pick<Capture, 'rows' | 'relations'> = {
    rows: rows.map((row) => ({ work: 0, oldTable: null, newTable: '1', before: null, after: JSON.stringify(row) })),
    relations: new Map([['1', { label: 'public.t', schema: 'public', key }]]),
  };
  const { tables } = previewOf(
    capture as Capture,
    hidden.map((column) => ({ table: 'public.t', column, why: 'it is a clock' })),
  ) as { tables: { rows: { after: Cells }[] }[] };
  return tables[0]?.rows.map(({ after }) => after) ?? [];
}

const ids = (...values: readonly string[]): Cells[] => values.map((id) => ({ a: 'x', id }));

describe('the rows of a preview', () => {
  it('are sorted by primary key, integers of any size as numbers, before other texts', () => {
    const sorted = ids('-10', '-9', '0', '1', '2', '10', '9007199254740992', '9007199254740993', '007', '1.5', 'a');
    expect(shown(sorted.toReversed())).toEqual(sorted);
  });

  it('are sorted by each column of the key in its order', () => {
    const sorted = [
      { a: '2', b: '9', c: 'x' },
      { a: '10', b: '9', c: 'x' },
      { a: '1', b: '10', c: 'x' },
    ];
    expect(shown(sorted.toReversed(), ['b', 'a'])).toEqual(sorted);
  });

  it('are those with the first 20 keys', () => {
    const rows = ids(...Array.from({ length: 101 }, (_, i) => String(i)));
    expect(shown(rows)).toEqual(rows.slice(0, 20));
  });

  it('are in an order that does not depend on a value that is not compared', () => {
    const [one, two] = [['9', '10'] as const, ['10', '9'] as const].map(([first, second]) =>
      shown(
        [
          { id: first, name: 'x' },
          { id: second, name: 'y' },
        ],
        ['id'],
        ['id'],
      ),
    );
    expect(two).toEqual(one);
  });

  it.each([['with', ['id']] as const, ['without', null] as const])(
    'are in the same order %s a key, however they were captured',
    (_with, key) => {
      const id = fc.oneof(fc.integer().map(String), fc.string(), fc.constant(null));
      const rows = fc.array(fc.record({ id, a: fc.constantFrom('1', '2') }), { maxLength: 8 });
      const two = rows.chain((all) =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
      );
      fc.assert(fc.property(two, ([all, shuffled]) => expect(shown(shuffled, key)).toEqual(shown(all, key))));
    },
  );
});
