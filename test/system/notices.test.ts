import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readNotices } from '../../workers/notices/settings';
import { startNotices } from '../../workers/notices/start-notices';
import { eventually } from '../support/eventually';
import { startHttpSink, type HttpSink } from '../support/http-sink';
import { SHOP } from '../support/shop-bundle';
import { startSmtpServer, type SmtpServer } from '../support/smtp-server';
import { useSystem } from '../support/system';
import { waitingPrice } from './scenarios';

const system = useSystem({ ...SHOP, name: 'notices' });
const folder = mkdtempSync(join(tmpdir(), 'countersign-notices-'));
let sink: HttpSink;
let smtp: SmtpServer;
const errors: object[] = [];
const results = new Set<string>();
let running: readonly { readonly stop: () => Promise<void> }[];

/** Two workers plan and send at once. The chat and one webhook never accept anything. */
beforeAll(async () => {
  sink = await startHttpSink();
  smtp = await startSmtpServer();
  writeFileSync(join(folder, 'secret'), '0123456789abcdef');
  writeFileSync(join(folder, 'closed-chat'), 'http://127.0.0.1:1/chat');
  const webhook = (url: string): object => ({ type: 'webhook', url, secretFile: 'secret' });
  const settings = {
    inbox: 'https://countersign.example.com/inbox',
    channels: {
      events: webhook(`${sink.url}/events`),
      leads: webhook(`${sink.url}/leads`),
      chat: { type: 'slack', urlFile: 'closed-chat' },
      mail: { type: 'email', host: '127.0.0.1', port: smtp.port, tls: 'none', from: 'countersign@example.com' },
    },
    people: { alice: { email: 'alice@example.com' }, bob: { email: 'bob@example.com' } },
    groups: {
      dba: { channels: ['events', 'chat', 'mail'], remindEvery: '5s', escalate: { after: '2s', to: 'leads' } },
      leads: { channels: ['leads'] },
    },
    digestEvery: '100ms',
    privateAddresses: ['127.0.0.1'],
  };
  writeFileSync(join(folder, 'notices.json'), JSON.stringify(settings));
  const { db, ledger, plans, keys } = system.resources.review;
  const logger = { info: () => {}, warn: () => {}, error: (facts: object) => void errors.push(facts) };
  running = [1, 2].map(() => {
    const parsed = readNotices(join(folder, 'notices.json'));
    if (parsed === null) throw new Error('expected settings');
    return startNotices({
      db,
      ledger,
      plans,
      keys,
      settings: parsed,
      logger,
      count: (_, result) => void results.add(result),
      everyMs: 200,
    });
  });
});
afterAll(async () => {
  await Promise.all(running.map((each) => each.stop()));
  await sink.close();
  await smtp.close();
  rmSync(folder, { recursive: true });
});

const eventsOf = (changeId: string, path: string): readonly string[] =>
  sink.requests
    .filter((request) => request.path === path)
    .map(({ body }) => JSON.parse(body) as { readonly changeId: string; readonly event: string })
    .filter((notice) => notice.changeId === changeId)
    .map(({ event }) => event);

test('a review whose chat notices all fail still waits for an answer, and is committed only with it [T63]', async () => {
  const { changeId } = await system.submit(waitingPrice(25));
  await system.waiting(changeId);
  await eventually('a chat notice failed', async () => {
    const { rows } = await system.resources.review.db.query<{ problem: string | null }>(
      `select problem from notices where channel = 'chat' and change_id = $1`,
      [changeId],
    );
    return rows.some(({ problem }) => problem !== null);
  });
  expect(await system.shop('select cents from prices where id = 25')).toEqual([{ cents: 500 }]);
  expect((await system.countersign.status(changeId))?.state).toBe('INTERVENTION_REQUIRED');
  await system.answer(changeId, 'alice', 'confirm');
  expect((await system.ended(changeId)).state).toBe('COMMITTED');
});

test('each channel is notified once of a waiting review, again as a reminder, the second group after its time, and then of the end', async () => {
  const { changeId } = await system.submit(waitingPrice(26));
  await system.waiting(changeId);
  const recipients = (): ReadonlySet<string> =>
    new Set(smtp.mails.filter(({ data }) => data.includes(changeId.slice(0, 8))).flatMap(({ to }) => to));
  await eventually(
    'reminder, escalation and mails',
    () =>
      eventsOf(changeId, '/events').includes('reminder') &&
      eventsOf(changeId, '/leads').length > 0 &&
      recipients().size >= 2,
  );
  expect(eventsOf(changeId, '/events').filter((event) => event === 'waiting')).toHaveLength(1);
  expect(eventsOf(changeId, '/leads')).toEqual(['escalation']);
  expect(recipients()).toEqual(new Set(['alice@example.com', 'bob@example.com']));

  await system.answer(changeId, 'alice', 'reject');
  expect((await system.ended(changeId)).state).toBe('ROLLED_BACK');
  await eventually('the end', () => eventsOf(changeId, '/events').includes('ended'));
  await eventually('the end, to the leads', () => eventsOf(changeId, '/leads').includes('ended'));
  const { rows } = await system.resources.review.db.query<{ state: string }>(
    `select distinct state from notices where change_id = $1 and state = 'due' and event <> 'ended'`,
    [changeId],
  );
  expect(rows).toEqual([]);
  expect(errors).toEqual([]);
  expect(results).toEqual(new Set(['sent', 'retried']));
});
