import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readNotices } from '../../../workers/notices/settings';
import { snippet } from '../../support/doc-snippets';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-notices-'));
  write('slack-url', 'https://hooks.example.com/services/T/B/secret\n');
  write('smtp-password', 'pass word');
  write('webhook-secret', '0123456789abcdef');
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
type Json = Record<string, unknown>;
function read(change: (file: Json) => void): ReturnType<typeof readNotices> {
  const file = JSON.parse(snippet('docs/operate.md', 'notices.json')) as Json;
  change(file);
  write('notices.json', JSON.stringify(file));
  return readNotices(join(folder, 'notices.json'));
}

test('the example of the documentation is valid, and secrets are read from files next to it', () => {
  const settings = read(() => {});
  expect(settings?.channels.get('chat')).toEqual({
    type: 'slack',
    url: 'https://hooks.example.com/services/T/B/secret',
  });
  expect(settings?.channels.get('mail')).toMatchObject({
    port: 587,
    tls: 'starttls',
    login: { user: 'countersign', pass: 'pass word' },
  });
  expect(settings?.teams.get('owners')).toEqual({
    channels: ['chat', 'mail'],
    remindEveryMs: 4 * 3_600_000,
    escalate: { afterMs: 8 * 3_600_000, to: 'leads' },
  });
});

test('without a file no notices are sent', () => {
  expect(readNotices(undefined)).toBeNull();
});

test.each<[string, (file: Json) => void, RegExp]>([
  [
    'an unknown channel',
    (f) => void ((f['groups'] as Json)['owners'] = { channels: ['pager'] }),
    /groups\.owners\.channels.*"pager"/,
  ],
  [
    'an unknown group to escalate to',
    (f) => void ((f['groups'] as Json)['owners'] = { channels: ['chat'], escalate: { after: '1h', to: 'chiefs' } }),
    /escalate\.to.*"chiefs"/,
  ],
  ['a missing inbox', (f) => void delete f['inbox'], /inbox/],
  ['an inbox that is not a web address', (f) => void (f['inbox'] = 'file:///etc/passwd'), /inbox/],
  ['an unknown member', (f) => void (f['chanels'] = {}), /chanels/],
  ['an unknown kind of channel', (f) => void ((f['channels'] as Json)['chat'] = { type: 'pager' }), /channels\.chat/],
  ['a network instead of an address', (f) => void (f['privateAddresses'] = ['10.0.0.0/8']), /privateAddresses/],
  [
    'a mail address with a line feed',
    (f) => void (f['people'] = { alice: { email: 'a@example.com\nbcc: x@example.com' } }),
    /people\.alice\.email/,
  ],
  [
    'a user without a password',
    (f) => void delete ((f['channels'] as Json)['mail'] as Json)['passwordFile'],
    /both user and passwordFile/,
  ],
  [
    'a secret file that does not exist',
    (f) => void (((f['channels'] as Json)['chat'] as Json)['urlFile'] = 'nothing'),
    /nothing/,
  ],
])('%s is refused with its place', (_, change, message) => {
  expect(() => read(change)).toThrow(message);
});

test('a short secret is refused, and is not printed', () => {
  write('webhook-secret', 'hunter2');
  expect(() => read(() => {})).toThrow(/at least 16 characters/);
  expect(() => read(() => {})).not.toThrow(/hunter2/);
});
