import { recordLateAnswers } from '../../../activities/review/late-answers';
import { memoryLedger } from '../../support/memory-ledger';

const [CHANGE, V1] = ['1'.repeat(64), 'a'.repeat(64)];
const AT = '2026-03-01T12:00:00.000Z';
const opened = {
  tenant: 'acme',
  target: 'shop',
  sourceTool: 'SQLCAS',
  inputSha: 'b'.repeat(64),
  openedAt: AT,
} as const;
const answer = { violationId: V1, fingerprint: 'c'.repeat(64), decision: 'confirm', reason: '', actor: 'dana' };
const closed = { code: 'closed', message: 'the review is over' } as const;

function setUp() {
  const ledger = memoryLedger();
  return { ledger, deps: { ledger: ledger.as('cs_gateway'), now: () => new Date(AT) } };
}

it('refuses an answer after the review closed, by violation, and records the attempt in the ledger [T56]', async () => {
  const { ledger, deps } = setUp();
  await ledger.append(CHANGE, [{ kind: 'closed', at: AT, body: {}, factKey: 'closed' }], opened);
  expect(await recordLateAnswers(deps, CHANGE, { answers: [answer, true] }, closed)).toEqual({
    [V1]: closed,
    '#1': closed,
  });
  expect(await recordLateAnswers(deps, CHANGE, [true], closed)).toEqual({
    '#0': { code: 'malformed', message: expect.stringContaining('by position') },
  });
  expect(ledger.all.slice(1).map(({ row }) => [row.kind, row.actor, row.body['via']])).toEqual(
    Array(3).fill(['answer_refused', 'cs_gateway', 'late']),
  );
});

it('records nothing for a review that does not exist, so that an invented id creates no rows', async () => {
  const { ledger, deps } = setUp();
  expect(await recordLateAnswers(deps, CHANGE, { answers: [answer] }, closed)).toBeNull();
  expect(ledger.all).toEqual([]);
});
