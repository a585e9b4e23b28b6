import { changesSince } from '../../../../gateway/inbox/page/model/changes-since';
import { chosenAnswers, sendProblem } from '../../../../gateway/inbox/page/model/choices';
import type { Place } from '../../../../gateway/inbox/page/model/evidence';
import type { Card } from '../../../../gateway/inbox/page/model/cards';
import { agoText, remainingText, whenText } from '../../../../gateway/inbox/page/model/deadline';
import { parseDrafts, withoutDecisions, withoutRecorded } from '../../../../gateway/inbox/page/model/drafts';
import { emptyText, queryOf, NO_FILTERS } from '../../../../gateway/inbox/page/model/list-filters';
import { hashOf, routeOf } from '../../../../gateway/inbox/page/model/routes';
import { stateText } from '../../../../gateway/inbox/page/model/state-text';
import { repeat, throttle } from '../../../../gateway/inbox/page/model/throttle';
import { judgedPolicies } from '../../../../gateway/inbox/page/model/judged-policies';
import type { AdmittedAnswer, Decision } from '../../../../policy/contracts/answer';
import { hex, reviewed, status, violation } from '../../../client/fakes';

const ID = hex('a');

describe('routes', () => {
  it('read back what they write, and take any other address for the list', () => {
    for (const route of [
      { view: 'list', tab: 'waiting', filters: NO_FILTERS },
      { view: 'list', tab: 'all', filters: { ...NO_FILTERS, search: 'a & b=ü?#%', outcome: 'declined' } },
      { view: 'review', changeId: hex('c') },
      { view: 'numbers' },
    ] as const)
      expect(routeOf(hashOf(route))).toEqual(route);
    expect(routeOf('#enroll=abc_-9')).toEqual({ view: 'enroll', fragment: '#enroll=abc_-9' });
    for (const other of ['', '#/review/../x', '#enroll=<img>', '#/review/javascript:alert(1)'])
      expect(routeOf(other)).toEqual({ view: 'list', tab: 'turn', filters: NO_FILTERS });
  });
});

describe('drafts', () => {
  const draft = { decision: 'confirm', reason: 'seen' } as const;

  it('survive a reload, and drop what something else has stored', () => {
    expect(parseDrafts(JSON.stringify({ [ID]: draft }))).toEqual({ [ID]: draft });
    for (const other of [
      null,
      '',
      '[',
      '7',
      '{"x":{"decision":"confirm","reason":""}}',
      `{"${ID}":{"decision":"maybe","reason":""}}`,
    ])
      expect(parseDrafts(other)).toEqual({});
  });

  it('keep the reason and drop the decision if the review is disclosed again', () => {
    expect(withoutDecisions({ [ID]: draft })).toEqual({ [ID]: { decision: null, reason: 'seen' } });
  });

  const place: Place = { kind: 'staging', anchor: 'dry-run', label: '' };
  const card = (turn: Card['turn'], confirmation: string | null = null) =>
    ({ violation: violation({ violationId: ID }), places: [place], turn, confirmation }) as unknown as Card;
  const chosen = (
    of: Card,
    decision: Decision,
    reason = '',
    { seen = ['dry-run'], canConfirm = true }: { seen?: readonly string[]; canConfirm?: boolean } = {},
  ) => chosenAnswers([of], { draftOf: () => ({ decision, reason }), seen: new Set(seen), canConfirm });
  const nothing = { name: '', count: '' };

  it('are not sent without a reason to reject, nor without what a confirmation asks to type', () => {
    const friction = { why: '', name: 't', nameLabel: '', count: 3, countLabel: '' };
    expect(chosen(card('yours'), 'confirm', 'x')).toEqual([
      { violationId: ID, decision: 'confirm', reason: 'x', coverage: 1, ready: true, retracts: null },
    ]);
    expect(sendProblem(chosen(card('yours'), 'reject', ' '), null, nothing)).toBe('A rejection needs a reason');
    expect(sendProblem(chosen(card('yours'), 'confirm'), friction, { name: 't', count: '4' })).toContain('type what');
    expect(sendProblem(chosen(card('yours'), 'confirm'), friction, { name: 't', count: '3' })).toBeNull();
    expect(sendProblem(chosen(card('yours'), 'reject', 'no'), friction, nothing)).toBeNull();
  });

  it('of an earlier visit do not confirm evidence that this visit has not shown', () => {
    expect(sendProblem(chosen(card('yours'), 'confirm', '', { seen: [] }), null, nothing)).toContain(
      'look at the evidence',
    );
    expect(sendProblem(chosen(card('yours'), 'reject', 'no', { seen: [] }), null, nothing)).toBeNull();
  });

  it('of an earlier visit do not confirm a change whose bytes or rows were not sent this time', () => {
    expect(chosen(card('yours'), 'confirm', '', { canConfirm: false })).toEqual([]);
    expect(chosen(card('yours'), 'reject', 'no', { canConfirm: false })).toHaveLength(1);
  });

  it('are done if the ledger has them, also if no response said so, and not if a retraction came after them', () => {
    const given = (more: Partial<AdmittedAnswer> = {}): AdmittedAnswer =>
      ({
        ...draft,
        violationId: ID,
        person: 'alice',
        digest: hex('9'),
        issuedAt: '2026-11-20T10:00:00Z',
        ...more,
      }) as never;
    const mine = { [ID]: { decision: 'confirm', reason: ' seen\n' } } as const;
    const left = (answers: readonly AdmittedAnswer[]) => withoutRecorded(mine, answers, 'alice');
    expect(left([given()])).toEqual({});
    expect(left([])).toBe(mine);
    for (const other of [{ person: 'bob' }, { decision: 'reject' }, { reason: 'no' }] as const)
      expect(left([given(other)])).toBe(mine);
    const retract = given({
      decision: 'retract',
      retracts: hex('9'),
      digest: hex('8'),
      issuedAt: '2026-11-20T11:00:00Z',
    });
    expect(left([given(), retract])).toBe(mine);
  });

  it('are dropped if this person can no longer give them', () => {
    for (const turn of ['answered_by_you', 'not_in_group', 'four_eyes', 'resolved', 'closed'] as const)
      for (const decision of ['confirm', 'reject', 'retract'] as const)
        expect(chosen(card(turn), decision, 'x')).toEqual([]);
    expect(chosen(card('answered_by_you', hex('9')), 'retract')).toMatchObject([{ retracts: hex('9') }]);
    expect(chosen(card('answered_by_you', hex('9')), 'confirm')).toEqual([]);
  });
});

describe('what changed while a review was open', () => {
  const answer = { digest: hex('9'), person: 'bob', decision: 'reject', violationId: ID } as AdmittedAnswer;
  const before = reviewed(status(), new Uint8Array());

  it('is nothing for the same state, and names answers, the end, and a new disclosure', () => {
    expect(changesSince(before, before, 'alice')).toEqual([]);
    expect(changesSince(before, { ...before, answers: [answer] }, 'alice')).toEqual([
      'bob rejected: SQL update without where',
    ]);
    expect(
      changesSince(before, reviewed(status({ state: 'ROLLED_BACK', reason: 'withdrawn' }), new Uint8Array()), 'alice'),
    ).toEqual(['The change was rolled back (withdrawn)']);
    expect(changesSince(before, reviewed(status({ fingerprint: hex('7') }), new Uint8Array()), 'alice')[0]).toContain(
      'disclosed again',
    );
  });
});

describe('a throttle', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('acts while calls go on, once for each period, and not after it is cancelled', async () => {
    const act = jest.fn(async () => {});
    const { call, cancel } = throttle(act, 500);
    for (let ms = 0; ms < 2000; ms += 100) {
      call();
      await jest.advanceTimersByTimeAsync(100);
    }
    expect(act).toHaveBeenCalledTimes(4);
    call();
    cancel();
    await jest.advanceTimersByTimeAsync(1000);
    expect(act).toHaveBeenCalledTimes(4);
  });

  it('acts once more after calls that come while it acts, and never twice at once', async () => {
    const ends: (() => void)[] = [];
    const act = jest.fn(() => new Promise<void>((end) => ends.push(end)));
    const { call } = throttle(act, 500);
    for (let ms = 0; ms < 3000; ms += 100) {
      call();
      await jest.advanceTimersByTimeAsync(100);
    }
    expect(act).toHaveBeenCalledTimes(1);
    ends[0]?.();
    await jest.advanceTimersByTimeAsync(2000);
    expect(act).toHaveBeenCalledTimes(2);
    ends[1]?.();
    await jest.advanceTimersByTimeAsync(2000);
    expect(act).toHaveBeenCalledTimes(2);
  });
});

describe('a repeated reading', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('begins again some time after it has ended, however long it takes, until it is stopped', async () => {
    const act = jest.fn(() => new Promise<void>((end) => setTimeout(end, 5_000)));
    const stop = repeat(act, 2_000);
    await jest.advanceTimersByTimeAsync(6_000);
    expect(act).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(act).toHaveBeenCalledTimes(2);
    stop();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(act).toHaveBeenCalledTimes(2);
  });
});

describe('small texts', () => {
  const now = Date.parse('2026-11-20T10:00:00Z');

  it.each([
    ['2026-11-20T10:00:00Z', 'passed'],
    ['2026-11-20T10:03:20Z', 'in 3 min 20 s'],
    ['2026-11-20T10:42:00Z', 'in 42 min'],
    ['2026-11-21T09:59:00Z', 'in 23 h 59 min'],
    ['2026-11-25T10:00:00Z', 'in 5 days'],
  ])('the time until %s is "%s"', (at, text) => {
    expect(remainingText(at, now)).toBe(text);
  });

  it('the age of a review is in minutes, hours or days', () => {
    expect(
      ['2026-11-20T09:59:30Z', '2026-11-20T09:30:00Z', '2026-11-20T05:00:00Z', '2026-11-10T10:00:00Z'].map((at) =>
        agoText(at, now),
      ),
    ).toEqual(['now', '30 min ago', '5 h ago', '10 days ago']);
  });

  it('a listed review has a deadline only while it waits for people', () => {
    const openedAt = '2026-11-20T09:30:00Z';
    const listed = (state: string, deadlineAt: string | null = '2026-11-21T09:59:00Z', pending = 1): string =>
      whenText({ state, deadlineAt, openedAt, pending }, now).text;
    expect(listed('INTERVENTION_REQUIRED')).toBe('rolled back in 23 h 59 min');
    expect(listed('INTERVENTION_REQUIRED', '2026-11-20T09:59:00Z')).toBe('the deadline has passed');
    expect(listed('INTERVENTION_REQUIRED', '2026-11-21T09:59:00Z', 0)).toBe('opened 30 min ago');
    for (const state of ['COMMITTING', 'COMMITTED', 'ROLLED_BACK', 'EFFECT_UNKNOWN'])
      expect(listed(state)).toBe('opened 30 min ago');
    expect(listed('RUNNING', null)).toBe('opened 30 min ago');
  });

  it('an empty list says that nothing waits only if it is not filtered', () => {
    expect(emptyText('turn', NO_FILTERS)).toBe('Nothing waits for you.');
    expect(emptyText('turn', { ...NO_FILTERS, search: 'a' })).toBe('Nothing waits for you.');
    for (const filters of [{ search: 'items' }, { tenant: 'acme' }])
      expect(emptyText('turn', { ...NO_FILTERS, ...filters })).toBe('No review matches the search and the filters.');
  });

  it('a review whose violations are all answered does not wait for people', () => {
    expect(stateText('INTERVENTION_REQUIRED', null, 1)).toBe('Waits for people');
    expect(stateText('INTERVENTION_REQUIRED', null, 0)).toBe('Answered, to be decided');
    expect(stateText('ROLLED_BACK', 'stale_base', 0)).toBe('Rolled back: stale base');
  });

  it('a query has only the filters that are set, and no search of one character', () => {
    expect(queryOf('all', { ...NO_FILTERS, search: 'u', tool: 'SQLCAS', rule: ' ' })).toEqual({
      tab: 'all',
      tool: 'SQLCAS',
    });
  });

  it('the judge is quoted with whether the quotation is in the bytes', () => {
    const policy = (result: string, quoteVerified: boolean | null) => ({
      result,
      severity: 'BLOCK',
      why: 'w',
      quoteVerified,
    });
    const details = {
      policies: { a: policy('clear', null), b: policy('violated', false), c: policy('unsure', true), d: 'x' },
    };
    expect(judgedPolicies({ details } as never)).toEqual([
      { policyId: 'b', result: 'violated', why: 'w', quoteVerified: false },
      { policyId: 'c', result: 'unsure', why: 'w', quoteVerified: true },
    ]);
    expect(judgedPolicies({ details: undefined } as never)).toEqual([]);
  });
});
