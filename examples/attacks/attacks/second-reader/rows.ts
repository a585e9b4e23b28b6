/** Rows that a process appends with its own database role: odd, early, late, or in the wrong form. */
import { refundOrder, topUp, withoutRow, type Attack } from '../../attack';
import { appendAs, type AppendedRow, type ProcessRole } from '../../append-as';
import type { Testbed } from '../../testbed';
import { at, honestEnd, named, verifiedEnd } from './common';

/** A row, and words of the error with which the database refuses it; null if it takes the row. */
interface OddRow extends AppendedRow {
  readonly refusal: string | null;
}

/** Appends the rows. The first one that the database did not treat as expected, or null. */
async function appended(
  testbed: Testbed,
  role: ProcessRole,
  changeId: string,
  rows: readonly OddRow[],
): Promise<string | null> {
  for (const { refusal, ...row } of rows) {
    const said = await appendAs(testbed, role, changeId, row);
    if (refusal === null ? said !== null : said?.includes(refusal) !== true)
      return `${JSON.stringify(row).slice(0, 80)}: the database says ${said}, expected ${refusal}`;
  }
  return null;
}

const by = (rows: readonly OddRow[]): string => {
  const refusals = [...new Set(rows.flatMap(({ refusal }) => refusal ?? []))];
  return refusals.length === 0 ? 'the row counts for nothing: the review goes on' : `database: ${refusals.join('; ')}`;
};

/** Rows of a role that is not the committer's, appended to an open review, then the review goes on. */
function ofRole(name: string, id: number, rows: readonly OddRow[], role: ProcessRole = 'cs_gateway') {
  return named(name, async (testbed) => {
    const status = await testbed.submitAndWait(refundOrder(id));
    const odd = await appended(testbed, role, status.changeId, rows);
    const wrong = await honestEnd(testbed, status);
    return withoutRow(status.changeId, by(rows), odd ?? wrong);
  });
}

const deep = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
const ESCAPE = 'a character with a needless escape, or half of a surrogate pair';
const ODD: readonly (readonly [body: string, refusal: string | null])[] = [
  ['null', 'not a JSON object'],
  ['[]', 'not a JSON object'],
  ['"x"', 'not a JSON object'],
  ['{ "b" : 1, "a" : 2 }', 'white space between its members'],
  ['{"a":1e999}', 'the number 1e999'],
  ['{"a":"\\ud800"}', ESCAPE],
  ['{"a":1,"a":2}', 'a name twice'],
  ['{"__proto__":{"x":1}}', null],
  ['{"check":"\\u202e\\u001b[2J"}', ESCAPE],
  [deep, 'levels'],
];
const odd = (kind = 'refused'): OddRow[] => ODD.map(([body, refusal]) => ({ kind, body, refusal }));
const NOT_JSON: OddRow = { body: 'not json', refusal: 'not a JSON object' };
const NOT_PROJECTING = 'role cs_gateway may not write the projection';
const NO_TIME = 'not in the form of ISO 8601';
const FAR = 'more than 10 minutes from the clock';

/** Rows that are appended to a change after it was committed: its evidence must stay as good as it was. */
function afterTheEnd(name: string, id: number, rows: readonly OddRow[]): Attack {
  return named(name, async (testbed) => {
    const changeId = await testbed.submit(topUp(id));
    const before = await verifiedEnd(testbed, changeId);
    if (before !== null) throw new Error(`Without an attack: ${before}`);
    const odd = await appended(testbed, 'cs_gateway', changeId, rows);
    return withoutRow(changeId, by(rows), odd ?? (await verifiedEnd(testbed, changeId)));
  });
}

export const ROWS: readonly Attack[] = [
  ofRole('a row of the gateway’s role from the year 9999', 27, [{ at: '9999-12-31T23:59:59.999Z', refusal: FAR }]),
  ofRole('a row of the gateway’s role at a time that does not exist', 28, [
    { at: '-'.repeat(20), refusal: NO_TIME },
    { at: '.'.repeat(30), refusal: NO_TIME },
  ]),
  ofRole('a row of the gateway’s role from the past', 29, [{ at: '1970-01-01T00:00:00.000Z', refusal: FAR }]),
  ofRole('a row of the gateway’s role that is not JSON', 30, [NOT_JSON]),
  ofRole('rows of the gateway’s role that are odd JSON', 10, odd()),
  ofRole('refused answers of the gateway’s role that are odd JSON', 1, odd('answer_refused')),
  ofRole('rows `spent` of the gateway’s role in an enforced change', 2, [{ kind: 'spent', body: '{}', refusal: null }]),
  ofRole('records of the judge’s role that are odd JSON', 3, odd('attested'), 'cs_judge'),
  ofRole('empty records of the judge’s role', 5, [{ kind: 'attested', refusal: null }], 'cs_judge'),
  ofRole(
    'findings of the review worker’s role that allow what is held',
    4,
    [
      {
        kind: 'findings',
        refusal: null,
        body: '{"findings":[{"class":"POLICY","detectedAt":"preflight","evidenceRefs":[],"reason":"","status":"ALLOW","validator_id":"guardian.orders"}]}',
      },
    ],
    'cs_review',
  ),
  afterTheEnd('a row of the gateway’s role after the end, not JSON', 16, [NOT_JSON]),
  afterTheEnd('a row of the gateway’s role after the end, odd JSON', 17, odd()),
  afterTheEnd('a row of the gateway’s role after the end, at a time that does not exist', 18, [
    { at: '-'.repeat(20), refusal: NO_TIME },
  ]),
  afterTheEnd('a row `spent` of the gateway’s role after the end', 19, [{ kind: 'spent', body: '{}', refusal: null }]),
  named('rows of the gateway’s role before a change is opened', async (testbed) => {
    const { changeId, submission } = await testbed.prepared(topUp(22));
    for (const kind of ['refused', 'answer_refused', 'spent'])
      await appendAs(testbed, 'cs_gateway', changeId, { kind });
    await testbed.startReview(changeId, submission);
    return withoutRow(changeId, 'the honest change is opened and commits', await verifiedEnd(testbed, changeId));
  }),
  named('a refusal of the gateway’s role that also writes the list', async (testbed) => {
    const status = await testbed.submitAndWait(refundOrder(5));
    const { changeId } = status;
    const refusals: unknown[] = [];
    for (const state of ['COMMITTED', 'ROLLED_BACK']) {
      const refusal = await appendAs(
        testbed,
        'cs_gateway',
        changeId,
        {},
        JSON.stringify({
          state,
          reason: 'declined',
          pending: 0,
          closed_at: at(0),
          closedAt: at(0),
          closed: true,
          summary: 'ok',
          requester: 'alice',
          tenant: 'other',
        }),
      );
      refusals.push(refusal);
    }
    const [row] = await testbed.ledger('select * from reviews where change_id = $1', [changeId]);
    const moved =
      row?.['state'] !== 'INTERVENTION_REQUIRED' ||
      row['closed_at'] !== null ||
      row['tenant'] !== 'default' ||
      row['pending'] !== 1;
    const wrong = await honestEnd(testbed, status);
    if (moved) return withoutRow(changeId, '', `the list says ${JSON.stringify(row)}`);
    const refused = refusals.every((refusal) => String(refusal).includes(NOT_PROJECTING));
    return withoutRow(
      changeId,
      `database: ${NOT_PROJECTING}`,
      refused ? wrong : `the database says ${refusals.join()}`,
    );
  }),
];
