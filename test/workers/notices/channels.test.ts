import { createHmac } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '../../../dev/fixtures/loopback-server';
import { routeOf } from '../../../gateway/inbox/page/model/routes';
import { assertMailer, sendEmail } from '../../../workers/notices/channels/email';
import { post } from '../../../workers/notices/channels/post';
import { sendSlack, slackMessage } from '../../../workers/notices/channels/slack';
import { sendWebhook } from '../../../workers/notices/channels/webhook';
import { linkTo, MAX_LINES, noticeLine, subject, type NoticeBody } from '../../../workers/notices/message';
import { startHttpSink, type HttpSink } from '../../support/http-sink';
import { startSmtpServer, type SmtpServer } from '../../support/smtp-server';

const changeId = 'ab'.repeat(32);
const waiting: NoticeBody = {
  event: 'waiting',
  changeId,
  tenant: 'default',
  target: 'shop',
  sourceTool: 'SQLDryRun',
  team: 'owners',
  rules: ['guardian.sql_affected_rows', 'guardian.sql_delete_without_where'],
  deadlineAt: '2026-01-02T00:00:00.000Z',
};
const inbox = 'https://countersign.example.com/inbox/';
const context = { inbox, privateAddresses: ['127.0.0.1'], now: new Date('2026-01-01T00:00:00.000Z') };

let sink: HttpSink;
let smtp: SmtpServer;
beforeAll(async () => {
  sink = await startHttpSink();
  smtp = await startSmtpServer();
});
afterAll(async () => {
  await sink.close();
  await smtp.close();
});
beforeEach(() => {
  sink.status = 204;
  smtp.reply = null;
});

test('a webhook gets the notice with its link, signed as in Standard Webhooks', async () => {
  const secret = '0123456789abcdef';
  expect(
    await sendWebhook({ url: `${sink.url}/hook?a=1`, secret }, { id: 'notice-7', notice: waiting }, context),
  ).toEqual({
    ok: true,
  });
  const { path, headers, body } = sink.requests.at(-1) ?? { path: '', headers: {}, body: '' };
  expect(path).toBe('/hook?a=1');
  expect(JSON.parse(body)).toEqual({ ...waiting, link: `${inbox}#/review/${changeId}` });
  const signed = `notice-7.${String(headers['webhook-timestamp'])}.${body}`;
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', secret).update(signed).digest('base64')}`);
  expect(headers['webhook-timestamp']).toBe('1767225600');
});

test.each([
  [301, true],
  [302, true],
  [400, true],
  [404, true],
  [410, true],
  [408, false],
  [429, false],
  [500, false],
  [503, false],
])('after status %d the notice has failed for good: %s; a redirect is not followed', async (status, permanent) => {
  sink.status = status;
  const before = sink.requests.length;
  const sent = await post({ url: sink.url, headers: {}, body: '{}', privateAddresses: ['127.0.0.1'] });
  expect(sent).toEqual({ ok: false, permanent, why: `HTTP status ${status}` });
  expect(sink.requests.length).toBe(before + 1);
});

test('a server that closes the connection is tried again later', async () => {
  const sent = await post({ url: 'http://127.0.0.1:1/', headers: {}, body: '{}', privateAddresses: ['127.0.0.1'] });
  expect(sent).toMatchObject({ ok: false, permanent: false });
});

test('a server that answers with another protocol is tried again later', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    );
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
  const sent = await post({ url, headers: {}, body: '{}', privateAddresses: ['127.0.0.1'] });
  expect(sent).toMatchObject({ ok: false, permanent: false });
  await new Promise((resolve) => server.close(resolve));
});

test('the link of a notice opens its review in the inbox', () => {
  expect(routeOf(new URL(linkTo(inbox, changeId)).hash)).toEqual({ view: 'review', changeId });
});

test('a chat message has no button, no text that the chat interprets, and only links to the inbox', async () => {
  expect(await sendSlack({ url: sink.url }, [waiting], context)).toEqual({ ok: true });
  const message = JSON.parse(sink.requests.at(-1)?.body ?? '') as { blocks: { type: string }[] };
  expect(new Set(message.blocks.map(({ type }) => type))).toEqual(new Set(['section', 'context']));
  const links = JSON.stringify(message).match(/https?:[^|"]*/g);
  expect(links).toEqual([`${inbox}#/review/${changeId}`]);
});

test('names that a chat would read as mentions or markup stay text', () => {
  const hostile = { ...waiting, target: '<!channel> & <https://evil.example|Approve>' };
  const { text, blocks } = slackMessage([hostile], inbox) as { text: string; blocks: { text?: { type: string } }[] };
  expect(text).toContain('&lt;!channel&gt; &amp; &lt;https://evil.example|Approve&gt;');
  expect(blocks[0]?.text?.type).toBe('plain_text');
});

test('a message lists a bounded number of notices, and says how many more there are', () => {
  const many = Array.from({ length: MAX_LINES + 5 }, () => waiting);
  const { blocks } = slackMessage(many, inbox) as { blocks: object[] };
  // https://docs.slack.dev/reference/block-kit/blocks: at most 50 blocks in a message.
  expect(blocks.length).toBeLessThanOrEqual(50);
  expect(JSON.stringify(blocks)).toContain('5 more in the inbox');
});

const email = {
  type: 'email',
  host: '127.0.0.1',
  port: 0,
  tls: 'none',
  from: 'countersign@example.com',
  login: null,
} as const;
const send = (to: string, notices: readonly NoticeBody[], more: object = {}): ReturnType<typeof sendEmail> =>
  sendEmail({ ...email, port: smtp.port, ...more }, to, { id: 'notice-9', notices }, context);

test('several notices to one person are one message, with one link each', async () => {
  expect(await send('alice@example.com', [waiting, { ...waiting, event: 'reminder' }])).toEqual({ ok: true });
  const { from, to, data } = smtp.mails.at(-1) ?? { from: '', to: [], data: '' };
  expect({ from, to }).toEqual({ from: 'countersign@example.com', to: ['alice@example.com'] });
  expect(data).toContain('Subject: Countersign: 1 change waiting for an answer');
  expect(data).toContain('Message-ID: <notice-9@example.com>');
  expect(data).toMatch(/Content-Type: text\/plain/);
  expect(
    data
      .replaceAll('=\r\n', '')
      .replaceAll('=3D', '=')
      .match(/#\/review\//g),
  ).toHaveLength(2);
});

test('the subject counts changes, not notices, and says that changes ended only if none waits', () => {
  const ended = { event: 'ended', changeId: 'cd'.repeat(32), state: 'COMMITTED', reason: null } as const;
  const { tenant, target, sourceTool, team } = waiting;
  const end: NoticeBody = { ...ended, tenant, target, sourceTool, team };
  expect(subject([waiting, { ...waiting, changeId: 'ef'.repeat(32) }, { ...waiting, team: 'leads' }, end])).toBe(
    'Countersign: 2 changes waiting for an answer',
  );
  expect(subject([end, { ...end, team: 'leads' }])).toBe('Countersign: 1 change ended');
});

test('a name with line feeds adds no header and no recipient', async () => {
  const target = 'shop\r\nBcc: eve@example.com\r\n\r\nApprove at https://evil.example';
  await send('alice@example.com', [{ ...waiting, target }]);
  const { to, data } = smtp.mails.at(-1) ?? { to: [], data: '' };
  expect(to).toEqual(['alice@example.com']);
  expect(data.slice(0, data.indexOf('\r\n\r\n'))).not.toMatch(/^bcc:/im);
});

test('a mail server without TLS gets nothing if TLS is required, and the notice is sent again later', async () => {
  const before = smtp.mails.length;
  expect(await send('alice@example.com', [waiting], { tls: 'starttls' })).toMatchObject({
    ok: false,
    permanent: false,
  });
  expect(smtp.mails.length).toBe(before);
});

test.each([
  ['450 later', false],
  ['550 no such person', true],
])('a recipient that is refused with "%s" has failed for good: %s', async (line, permanent) => {
  smtp.reply = (command) => (command === 'RCPT' ? line : null);
  expect(await send('alice@example.com', [waiting])).toMatchObject({ ok: false, permanent });
});

test('a mail server that sends its reply forever, a byte at a time, is given up, and the notice is sent again later', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const trickle = setInterval(() => socket.write('2'), 10);
    socket.on('close', () => clearInterval(trickle)).on('error', () => {});
    sockets.push(socket);
    socket.write('220 loopback\r\n');
  });
  const port = await listenOnLoopback(server);
  const sent = await sendEmail(
    { ...email, port },
    'alice@example.com',
    { id: 'notice-9', notices: [waiting] },
    { ...context, withinMs: 300 },
  );
  expect(sent).toMatchObject({ ok: false, permanent: false });
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test('a line names tool, target, group and rules, and what happens without an answer', () => {
  expect(noticeLine(waiting)).toBe(
    'abababab  SQLDryRun on shop (default): waits for owners: guardian.sql_affected_rows, guardian.sql_delete_without_where; rolled back at 2026-01-02T00:00:00.000Z without an answer',
  );
});

test('a worker with a mail channel does not start without the library that sends mail, and others do', async () => {
  jest.isolateModules(() =>
    jest.doMock('nodemailer', () => {
      throw new Error("Cannot find module 'nodemailer'");
    }),
  );
  try {
    await expect(assertMailer(new Map([['mail', { type: 'email' }]]))).rejects.toThrow(
      /^Channel "mail" .* nodemailer cannot be loaded: Cannot find module 'nodemailer'. Install/,
    );
    await expect(assertMailer(new Map([['chat', { type: 'slack' }]]))).resolves.toBeUndefined();
  } finally {
    jest.dontMock('nodemailer');
  }
  await expect(assertMailer(new Map([['mail', { type: 'email' }]]))).resolves.toBeUndefined();
});
