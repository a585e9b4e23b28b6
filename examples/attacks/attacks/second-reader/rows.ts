/** Rows that a process appends with its own database role: odd, early, late, or in the wrong form. */
import { query } from '../../../../dev/query';
import { refundOrder, topUp, type Attack } from '../../attack';
import { appendAs, type AppendedRow, type ProcessRole } from '../../append-as';
import { at, honestEnd, judged, named, verifiedEnd } from './common';

/** Rows of a role that is not the committer's, appended to an open review, then the review goes on. */
function ofRole(name: string, id: number, rows: readonly AppendedRow[], role: ProcessRole = 'cs_gateway') {
  return named(name, async (testbed) => {
    const status = await testbed.submitAndWait(refundOrder(id));
    const refusals: string[] = [];
    for (const row of rows) {
      const refusal = await appendAs(testbed, role, status.changeId, row);
      if (refusal !== null) refusals.push(refusal);
    }
    const wrong = await honestEnd(testbed, status);
    return judged(status.changeId, wrong === null ? null : `${wrong} [database refused: ${refusals.join('; ')}]`);
  });
}

const deep = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
const ODD = [
  'null',
  '[]',
  '"x"',
  '{ "b" : 1, "a" : 2 }',
  '{"a":1e999}',
  '{"a":"\\ud800"}',
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  '{"check":"\\u202e\\u001b[2J"}',
  deep,
];
const asRows = (bodies: readonly string[], kind = 'refused') => bodies.map((body) => ({ kind, body }));

/** Rows that are appended to a change after it was committed: its evidence must stay as good as it was. */
function afterTheEnd(name: string, id: number, rows: readonly AppendedRow[]): Attack {
  return named(name, async (testbed) => {
    const changeId = await testbed.submit(topUp(id));
    const before = await verifiedEnd(testbed, changeId);
    if (before !== null) throw new Error(`Without an attack: ${before}`);
    for (const row of rows) await appendAs(testbed, 'cs_gateway', changeId, row);
    return judged(changeId, await verifiedEnd(testbed, changeId));
  });
}

export const ROWS: readonly Attack[] = [
  ofRole('a row of the gateway’s role from the year 9999', 27, [{ at: '9999-12-31T23:59:59.999Z' }]),
  ofRole('a row of the gateway’s role at a time that is none', 28, [{ at: '-'.repeat(20) }, { at: '.'.repeat(30) }]),
  ofRole('a row of the gateway’s role from the past', 29, [{ at: '1970-01-01T00:00:00.000Z' }]),
  ofRole('a row of the gateway’s role that is not JSON', 30, asRows(['not json'])),
  ofRole('rows of the gateway’s role that are odd JSON', 10, asRows(ODD)),
  ofRole('refused answers of the gateway’s role that are odd JSON', 1, asRows(ODD, 'answer_refused')),
  ofRole('rows `spent` of the gateway’s role in an enforced change', 2, asRows(['{}'], 'spent')),
  ofRole('records of the judge’s role that are odd JSON', 3, asRows(ODD, 'attested'), 'cs_judge'),
  ofRole('empty records of the judge’s role', 5, asRows(['{}'], 'attested'), 'cs_judge'),
  ofRole(
    'findings of the review worker’s role that allow what is held',
    4,
    asRows(
      [
        '{"class":"POLICY","detectedAt":"preflight","evidenceRefs":[],"reason":"","status":"ALLOW","validator_id":"guardian.orders"}',
      ],
      'findings',
    ),
    'cs_review',
  ),
  afterTheEnd('a row of the gateway’s role after the end, not JSON', 16, asRows(['not json'])),
  afterTheEnd('a row of the gateway’s role after the end, odd JSON', 17, asRows(ODD)),
  afterTheEnd('a row of the gateway’s role after the end, at a time that is none', 18, [{ at: '-'.repeat(20) }]),
  afterTheEnd('a row `spent` of the gateway’s role after the end', 19, asRows(['{}'], 'spent')),
  named('rows of the gateway’s role before a change is opened', async (testbed) => {
    const { changeId, submission } = await testbed.prepared(topUp(22));
    for (const kind of ['refused', 'answer_refused', 'spent'])
      await appendAs(testbed, 'cs_gateway', changeId, { kind });
    await testbed.startReview(changeId, submission);
    return judged(changeId, await verifiedEnd(testbed, changeId));
  }),
  named('a refusal of the gateway’s role that also writes the list', async (testbed) => {
    const status = await testbed.submitAndWait(refundOrder(5));
    const { changeId } = status;
    for (const state of ['COMMITTED', 'ROLLED_BACK'])
      await appendAs(
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
    const [row] = await query(
      testbed.dev.runtime.postgres.superuserUrl('countersign'),
      'select * from reviews where change_id = $1',
      [changeId],
    );
    const moved =
      row?.['state'] !== 'INTERVENTION_REQUIRED' ||
      row['closed_at'] !== null ||
      row['tenant'] !== 'default' ||
      row['pending'] !== 1;
    const wrong = await honestEnd(testbed, status);
    return judged(changeId, moved ? `the list says ${JSON.stringify(row)}` : wrong);
  }),
];
