import fc from 'fast-check';
import type { CapturedRow, Relation } from '../../../../source-tools/sql/staging/captured-rows';
import { columnsOf, rowText } from '../../../../source-tools/sql/staging/row-text';
import { compareRuns, netChanges, touchedSha, type NetChange } from '../../../../source-tools/sql/staging/touched';

const keyed: Relation = { label: 'public.t', schema: 'public', key: ['id'] };
const relations = new Map([['1', keyed]]);
const row = (work: number, before: string | null, after: string | null): CapturedRow => ({
  work,
  oldTable: before === null ? null : '1',
  newTable: after === null ? null : '1',
  before,
  after,
});
const net = (...rows: CapturedRow[]): readonly NetChange[] => netChanges({ rows, relations }).get('public.t') ?? [];

describe('a row as the server writes it', () => {
  /** As `record_out` of PostgreSQL. */
  const written = (values: readonly (string | null)[]): string => {
    const fields = values.map((value) => {
      if (value === null) return '';
      return /^$|["\\(),\s]/.test(value) ? `"${value.replaceAll(/["\\]/g, '$&$&')}"` : value;
    });
    return `(${fields.join(',')})`;
  };

  it('is split into columns with unchanged values', () => {
    const value = fc.option(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', '\\', '(', ')', ',', 'a') })));
    const row = fc.dictionary(fc.string(), value, { noNullPrototype: true }).map((o) => Object.entries(o));
    fc.assert(
      fc.property(row, (columns) => {
        const [names, values] = [columns.map(([name]) => name), columns.map(([, each]) => each)];
        const text = rowText(written(values), names);
        expect(new Map(columnsOf(text ?? ''))).toEqual(new Map(columns));
        expect(rowText(written([...values, null, null]), names)).toBeNull();
      }),
    );
    expect(rowText('(,__proto__)', ['toString', '__proto__'])).toBe('{"toString":null,"__proto__":"__proto__"}');
  });

  it.each([null, '', '(', '(1', '1)', '(1,2)', '(1) ', '("1)', '()()'])(
    'is null if it does not have the columns: %s',
    (text) => {
      expect(rowText(text, ['id'])).toBeNull();
    },
  );
});

describe('net changes', () => {
  it('follow a row from its first state to its last, also with a new key and through delete and insert', () => {
    expect(
      net(
        row(0, '{"id": "1", "x": "1"}', '{"id": "1", "x": "2"}'),
        row(1, '{"id": "1", "x": "2"}', '{"id": "7", "x": "3"}'),
        row(2, '{"id": "7", "x": "3"}', null),
      ),
    ).toEqual([{ key: '["1"]', before: '{"id": "1", "x": "1"}', after: null }]);
    expect(net(row(0, '{"id": "1", "x": "1"}', null), row(1, null, '{"id": "1", "x": "5"}'))).toEqual([
      { key: '["1"]', before: '{"id": "1", "x": "1"}', after: '{"id": "1", "x": "5"}' },
    ]);
  });

  it('do not chain rows of one statement, because its old rows are from before that statement', () => {
    expect(net(row(0, '{"id": "1"}', '{"id": "2"}'), row(0, '{"id": "2"}', '{"id": "3"}'))).toEqual([
      { key: '["1"]', before: '{"id": "1"}', after: '{"id": "2"}' },
      { key: '["2"]', before: '{"id": "2"}', after: '{"id": "3"}' },
    ]);
  });
});

describe('the hash of changed rows', () => {
  const changes = net(
    row(0, '{"id": "1", "x": "1", "at": "1"}', '{"id": "1", "x": "2", "at": "2"}'),
    row(0, '{"id": "2", "x": "1", "at": "1"}', '{"id": "2", "x": "2", "at": "2"}'),
  );

  it('does not depend on the order of rows, but on every byte of them', () => {
    const sha = touchedSha(changes, []);
    expect(touchedSha(changes.toReversed(), [])).toBe(sha);
    for (const [i, change] of changes.entries()) {
      for (const member of ['key', 'before', 'after'] as const) {
        expect(touchedSha(changes.with(i, { ...change, [member]: `${change[member]} ` }), [])).not.toBe(sha);
        expect(touchedSha(changes.with(i, { ...change, [member]: null }), [])).not.toBe(sha);
      }
    }
  });

  it('omits volatile columns from the new row, but not from the old one', () => {
    const sha = touchedSha(changes, ['at']);
    const [first] = changes as [NetChange];
    expect(touchedSha(changes.with(0, { ...first, after: '{"id": "1", "x": "2", "at": "99"}' }), ['at'])).toBe(sha);
    expect(touchedSha(changes.with(0, { ...first, after: '{"id": "1", "x": "3", "at": "2"}' }), ['at'])).not.toBe(sha);
    expect(touchedSha(changes.with(0, { ...first, before: '{"id": "1", "x": "1", "at": "9"}' }), ['at'])).not.toBe(sha);
  });
});

describe('two runs', () => {
  const updated = (x: string, at: string) =>
    net(row(0, '{"id": "1", "x": "1", "at": "1"}', `{"id": "1", "x": "${x}", "at": "${at}"}`));

  it('show which columns are volatile', () => {
    expect(compareRuns(updated('2', '5'), updated('2', '6'))).toEqual({ kind: 'stable', volatile: ['at'] });
    expect(compareRuns(updated('2', '5'), updated('2', '5'))).toEqual({ kind: 'stable', volatile: [] });
  });

  it('do not make a column volatile if the old row was changed in between', () => {
    const moved = net(row(0, '{"id": "1", "x": "9", "at": "1"}', '{"id": "1", "x": "10", "at": "1"}'));
    expect(compareRuns(updated('2', '1'), moved)).toEqual({ kind: 'moved' });
    expect(compareRuns(updated('2', '1'), [])).toEqual({ kind: 'moved' });
  });

  it('compare new rows by column, because their keys may differ in each run', () => {
    const inserted = (...rows: string[]) => net(...rows.map((r) => row(0, null, r)));
    expect(
      compareRuns(
        inserted('{"id": "1", "x": "a"}', '{"id": "2", "x": "b"}'),
        inserted('{"id": "4", "x": "b"}', '{"id": "3", "x": "a"}'),
      ),
    ).toEqual({ kind: 'stable', volatile: ['id'] });
    // The same values in other combinations: no column differs, but the rows do.
    expect(
      compareRuns(
        inserted('{"y": "1", "x": "a"}', '{"y": "2", "x": "b"}'),
        inserted('{"y": "2", "x": "a"}', '{"y": "1", "x": "b"}'),
      ),
    ).toEqual({ kind: 'moved' });
  });
});
