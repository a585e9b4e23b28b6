import type { ClaimedNotice } from '../../../storage/notices/notices';
import { deliverNotices } from '../../../workers/notices/deliver-notices';
import { CHANGE } from '../../client/fakes';
import { startSmtpServer } from '../../support/smtp-server';

const about = { changeId: CHANGE, tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun', team: 'dba' };
const BODY = JSON.stringify({ event: 'waiting', ...about, rules: [], deadlineAt: null });

/** Claims notices after so many attempts each, whose chat cannot be reached. Returns what the store and the counter were given. */
async function failing(attempts: readonly number[], url = 'http://127.0.0.1:1/hook') {
  const claimed = attempts.map((made, i): ClaimedNotice => {
    const { changeId, team } = about;
    return {
      id: `${i}`,
      changeId,
      event: 'waiting',
      n: 0,
      team,
      channel: 'chat',
      recipient: '',
      body: BODY,
      attempts: made,
    };
  });
  const notSent: [ids: readonly string[], retryInS: number | null][] = [];
  const counted: [result: string, count: number][] = [];
  const store = {
    dropEnded: async () => {},
    dueQueues: async () => [{ channel: 'chat', recipient: '' }],
    claim: async () => claimed,
    notSent: async (ids: readonly string[], _why: string, retryInS: number | null) =>
      void notSent.push([ids, retryInS]),
  };
  const settings = {
    inbox: 'https://countersign.example/inbox/',
    channels: new Map(url === '' ? [] : [['chat', { type: 'slack', url } as const]]),
    emailOf: new Map(),
    teams: new Map(),
    digestMs: 0,
    privateAddresses: ['127.0.0.1'],
  };
  const logger = { info: () => {}, warn: () => {} };
  const count = (_channel: string, result: string, n: number): void => void counted.push([result, n]);
  const deps = { store: store as never, settings, logger, count, now: () => new Date() };
  await deliverNotices(deps, new AbortController().signal);
  return { notSent, counted };
}

test('of notices that were sent as one, only those that have been tried ten times are given up', async () => {
  expect(await failing([10, 1, 3, 1])).toEqual({
    notSent: [
      [['0'], null],
      [['1', '3'], 30],
      [['2'], 120],
    ],
    counted: [
      ['failed', 1],
      ['retried', 2],
      ['retried', 1],
    ],
  });
});

test('a failure that no retry resolves ends all of them', async () => {
  const { notSent } = await failing([2, 1], '');
  expect(notSent).toEqual([
    [['0'], null],
    [['1'], null],
  ]);
});

test('a mail to which a notice was added after a failed attempt has another message id, so that no mail server drops it as a copy', async () => {
  const smtp = await startSmtpServer();
  const mail = {
    type: 'email',
    host: '127.0.0.1',
    port: smtp.port,
    tls: 'none',
    from: 'a@example.com',
    login: null,
  } as const;
  const { changeId, team } = about;
  const notice = (id: string): ClaimedNotice => ({
    id,
    changeId,
    event: 'waiting',
    n: 0,
    team,
    channel: 'mail',
    recipient: 'b@example.com',
    body: BODY,
    attempts: 1,
  });
  const settings = {
    inbox: 'https://countersign.example/inbox/',
    channels: new Map([['mail', mail]]),
    emailOf: new Map(),
    teams: new Map(),
    digestMs: 0,
    privateAddresses: ['127.0.0.1'],
  };
  for (const ids of [['1'], ['1', '2'], ['1', '2']]) {
    const store = {
      dropEnded: async () => {},
      dueQueues: async () => [{ channel: 'mail', recipient: 'b@example.com' }],
      claim: async () => ids.map(notice),
      sent: async () => {},
    };
    const logger = { info: () => {}, warn: () => {} };
    const deps = { store: store as never, settings, logger, count: () => {}, now: () => new Date() };
    await deliverNotices(deps, new AbortController().signal);
  }
  await smtp.close();
  const [first, second, again] = smtp.mails.map(({ data }) => /^Message-ID: (.*)$/im.exec(data)?.[1]);
  expect(first).toBe('<notice-1@example.com>');
  expect(second).not.toBe(first);
  expect(again).toBe(second);
});
