import { createInboxNumbers } from '../../../storage/inbox/numbers';
import { readPrecedents } from '../../../storage/inbox/precedents';
import {
  createInboxLists,
  PAGE_SIZE,
  type InboxFilter,
  type InboxLists,
  type Viewer,
} from '../../../storage/inbox/review-list';
import type { Ledger } from '../../../policy/evidence/ledger-port';
import { createLedger } from '../../../storage/ledger/ledger';
import { answerListed, closeListed, openListed, PLAN, type ListedReview } from './listed-review';
import { useFreshDatabase } from '../../support/postgres';

const database = useFreshDatabase();
let review: Ledger;
let commit: Ledger;
let lists: InboxLists;
beforeEach(async () => {
  review = createLedger(database.open('cs_review'));
  commit = createLedger(database.open('cs_commit'));
  lists = createInboxLists(database.open('cs_gateway'));
});

const viewer = (person: string, given: Partial<Viewer> = {}): Viewer => ({
  person,
  tenants: ['acme'],
  groups: [{ planHash: PLAN, group: 'dba' }],
  ...given,
});
const open = (given?: ListedReview) => openListed(review, given);
const ids = async (who: Viewer, filter: Partial<InboxFilter> = {}): Promise<readonly string[]> =>
  (await lists.page(who, { tab: 'turn', ...filter })).items.map(({ changeId }) => changeId);

describe('your turn', () => {
  it('is a review with a violation that waits for this person, oldest deadline first', async () => {
    const late = await open({ deadlineAt: new Date(Date.now() + 9e6).toISOString() });
    const soon = await open({ violations: [{ rule: 'guardian.a' }, { rule: 'guardian.b', group: 'other' }] });
    expect(await ids(viewer('alice'))).toEqual([soon.changeId, late.changeId]);
    const [first] = (await lists.page(viewer('alice'), { tab: 'turn' })).items;
    expect(first?.waitingFor).toEqual([{ rule: 'guardian.a', since: expect.stringMatching(/Z$/) }]);
    expect(await lists.turnCount(viewer('alice'))).toBe(2);
    expect(await ids(viewer('alice'), { tab: 'waiting' })).toEqual([]);
  });

  it('is empty for a person of another group, plan or tenant', async () => {
    const { changeId } = await open();
    const others: readonly Partial<Viewer>[] = [
      { groups: [] },
      { groups: [{ planHash: PLAN, group: 'other' }] },
      { groups: [{ planHash: 'e'.repeat(64), group: 'dba' }] },
    ];
    for (const other of others) {
      expect(await ids(viewer('alice', other))).toEqual([]);
      expect(await ids(viewer('alice', other), { tab: 'waiting' })).toEqual([changeId]);
    }
    for (const tab of ['turn', 'waiting', 'all'] as const)
      expect(await ids(viewer('alice', { tenants: ['evil'] }), { tab })).toEqual([]);
    expect(await lists.turnCount(viewer('alice', { tenants: ['evil'] }))).toBe(0);
    expect(await ids(viewer('alice', { tenants: null }))).toEqual([changeId]);
  });

  it('leaves out the requester if four eyes are required, and only then', async () => {
    const { changeId } = await open({ violations: [{ fourEyes: false }] });
    await open();
    expect(await ids(viewer('carol'))).toEqual([changeId]);
  });

  it('ends with the answer of the person or of enough others, and comes back with a retraction', async () => {
    const { changeId, violationIds } = await open({ violations: [{ quorum: 2 }] });
    const [violationId = ''] = violationIds;
    await answerListed(review, changeId, { violationId, decision: 'confirm', person: 'alice' });
    expect(await ids(viewer('alice'))).toEqual([]);
    expect(await ids(viewer('bob'))).toEqual([changeId]);
    await answerListed(review, changeId, { violationId, decision: 'retract', person: 'alice' });
    expect(await ids(viewer('alice'))).toEqual([changeId]);
    await answerListed(review, changeId, { violationId, decision: 'confirm', person: 'alice' });
    await answerListed(review, changeId, { violationId, decision: 'confirm', person: 'bob' });
    expect(await ids(viewer('dave'))).toEqual([]);
    expect(await ids(viewer('dave'), { tab: 'waiting' })).toEqual([changeId]);
  });

  it('ends with a reject and with the review', async () => {
    const rejected = await open();
    await answerListed(review, rejected.changeId, {
      violationId: rejected.violationIds[0] ?? '',
      decision: 'reject',
      person: 'bob',
    });
    const closed = await open();
    await closeListed(commit, closed.changeId, 'expired');
    expect(await ids(viewer('alice'))).toEqual([]);
    expect(await lists.waitingGroups()).toEqual([{ planHash: PLAN, group: 'dba' }]);
    expect(await ids(viewer('alice'), { tab: 'all', outcome: 'expired' })).toEqual([closed.changeId]);
  });
});

it('filters by tool, rule, agent, tenant, age, outcome, words of the title and prefix of the id', async () => {
  const one = await open({
    title: 'UPDATE orders: 40 rows',
    submitter: 'key-1',
    openedAt: new Date(Date.now() - 7_200_000).toISOString(),
    violations: [{ rule: 'guardian.rows' }],
  });
  const two = await open({ sourceTool: 'GitPatch', title: 'src/pay.ts, 2 files', requester: null, tenant: 'beta' });
  const who = viewer('alice', { tenants: ['acme', 'beta'] });
  const found = async (filter: Partial<InboxFilter>) => ids(who, { tab: 'all', ...filter });
  const expected: readonly (readonly [Partial<InboxFilter>, readonly string[]])[] = [
    [{}, [two.changeId, one.changeId]],
    [{ tool: 'GitPatch' }, [two.changeId]],
    [{ rule: 'guardian.rows' }, [two.changeId, one.changeId]],
    [{ rule: 'guardian.other' }, []],
    [{ agent: { person: 'carol', keyIds: [] } }, [one.changeId]],
    [{ agent: { person: 'shopbot', keyIds: ['key-1'] } }, [one.changeId]],
    [{ tenant: 'beta' }, [two.changeId]],
    [{ tenant: 'evil' }, []],
    [{ minAgeSeconds: 3600 }, [one.changeId]],
    [{ outcome: 'INTERVENTION_REQUIRED', tool: 'SqlPatch' }, [one.changeId]],
    [{ search: 'ord ROW' }, [one.changeId]],
    [{ search: 'pay.t' }, [two.changeId]],
    [{ search: one.changeId.slice(0, 10) }, [one.changeId]],
    [{ search: `'; drop table reviews --` }, []],
    [{ search: '%' }, []],
    [{ search: '&|!:*<->' }, []],
  ];
  for (const [filter, want] of expected) expect({ filter, got: await found(filter) }).toEqual({ filter, got: want });
});

it.each(['turn', 'waiting', 'all'] as const)('pages through the tab %s, each review once', async (tab) => {
  const at = new Date().toISOString();
  for (let i = 0; i < PAGE_SIZE + 7; i++) await open({ deadlineAt: at, openedAt: at });
  const who = tab === 'waiting' ? viewer('alice', { groups: [] }) : viewer('alice');
  const first = await lists.page(who, { tab });
  const second = await lists.page(who, { tab, cursor: first.next ?? '' });
  const seen = [...first.items, ...second.items].map(({ changeId }) => changeId);
  expect([first.items.length, second.items.length, second.next]).toEqual([PAGE_SIZE, 7, null]);
  expect(new Set(seen).size).toBe(PAGE_SIZE + 7);
  for (const time of ['x', '', 'yesterday', 'none~none', '-009999-01-01T00:00:00Z'])
    await expect(lists.page(who, { tab, cursor: `${time}~${'a'.repeat(64)}` })).rejects.toThrow(RangeError);
  // JavaScript reads this time, PostgreSQL does not.
  await expect(lists.page(who, { tab, cursor: `2001~${'a'.repeat(64)}` })).resolves.toHaveProperty('items');
});

it('gives precedents and numbers of the tenants asked for, without people in the numbers', async () => {
  for (let i = 0; i < 3; i++) {
    const { changeId, violationIds } = await open();
    await answerListed(review, changeId, { violationId: violationIds[0] ?? '', decision: 'confirm', person: 'alice' });
    await closeListed(commit, changeId, null);
  }
  const expired = await open();
  await closeListed(commit, expired.changeId, 'expired');
  const other = await open({ tenant: 'evil' });
  await answerListed(review, other.changeId, {
    violationId: other.violationIds[0] ?? '',
    decision: 'reject',
    person: 'eve',
  });
  await review.append(expired.changeId, [
    { kind: 'refused', at: new Date().toISOString(), factKey: 'x', body: { check: 'x' } },
  ]);

  const gateway = database.open('cs_gateway');
  const precedents = await readPrecedents(gateway, { tenant: 'acme', rule: 'guardian.rows', except: expired.changeId });
  expect(precedents).toHaveLength(3);
  expect(precedents[0]).toMatchObject({
    decision: 'confirm',
    person: 'alice',
    outcome: 'COMMITTED',
    title: 'UPDATE orders',
  });

  const numbers = createInboxNumbers(gateway);
  expect(await numbers.reviews(['acme'], 30)).toEqual({
    reviews: 4,
    committed: 3,
    rolledBack: 1,
    expired: 1,
    refusals: 1,
  });
  const [all] = await numbers.answers('all', ['acme'], 30);
  expect(all).toMatchObject({ name: null, answers: 3, confirmed: 3, rejected: 0, confirmedFast: 1 });
  expect(await numbers.answers('rule', null, 30)).toMatchObject([
    { name: 'guardian.rows', answers: 4, confirmed: 3, rejected: 1 },
  ]);
  expect(await numbers.answers('group', ['evil'], 30)).toMatchObject([{ name: 'dba', answers: 1 }]);
  expect(await numbers.asked(['acme'], 30)).toEqual([{ rule: 'guardian.rows', asked: 4, expired: 1 }]);
  expect(JSON.stringify([all, await numbers.reviews(null, 30)])).not.toContain('alice');
});

it('is derived from ledger rows: rebuilding gives the same index', async () => {
  const { changeId, violationIds } = await open({ violations: [{ quorum: 2 }, { need: 'hard' }] });
  await answerListed(review, changeId, { violationId: violationIds[0] ?? '', decision: 'confirm', person: 'alice' });
  const closed = await open();
  await closeListed(commit, closed.changeId, 'declined');
  const admin = database.open('admin');
  const read = async () => [
    (await admin.query('select * from review_violations order by change_id, violation_id')).rows,
    (await admin.query('select * from review_answers order by seq')).rows,
  ];
  const before = await read();
  await admin.query('select rebuild_inbox_index()');
  expect(await read()).toEqual(before);
  expect(before[0]).toHaveLength(3);
});

it('indexes only what the ledger says: no role but the owner may write the index', async () => {
  for (const role of ['cs_review', 'cs_commit', 'cs_gateway', 'cs_operator'] as const)
    for (const sql of [
      'delete from review_violations',
      "update review_violations set rejected_by = '{}'",
      'select rebuild_inbox_index()',
      `select index_ledger_row(1, '${'a'.repeat(64)}', 'closed', '', '')`,
    ])
      await expect(database.open(role).query(sql)).rejects.toThrow(/permission denied/);
});
