import { checkNotices } from '../../cli/doctor/notices';
import { temporaryFolder } from './run-command';

const { write } = temporaryFolder();
write('url', 'https://hooks.example.com/services/T/B/secret\n');

function check(groups: object, policy: Readonly<Record<string, readonly string[]>>): ReturnType<typeof checkNotices> {
  const channels = {
    chat: { type: 'slack', urlFile: 'url' },
    mail: { type: 'email', host: 'mail.example.com', from: 'countersign@example.com' },
  };
  const people = { alice: { email: 'alice@example.com' } };
  const settings = { inbox: 'https://cs.example/inbox/', channels, people, groups };
  const plan = { groups: Object.fromEntries(Object.entries(policy).map(([name, members]) => [name, { members }])) };
  return checkNotices(write('notices.json', JSON.stringify(settings)), [
    plan as unknown as Parameters<typeof checkNotices>[1][number],
  ]);
}

test('without a file of notices there is nothing to check', () => {
  expect(checkNotices(undefined, [])).toEqual([]);
});

test('a file of notices that the review worker would not accept is a failure', () => {
  expect(check({ owners: { channels: ['pager'] } }, {})).toMatchObject([
    { ok: false, detail: expect.stringContaining('pager') as string },
  ]);
});

test('groups of the policy with channels pass, and those without are named', () => {
  const mailed = { owners: { channels: ['mail'] }, chatting: { channels: ['chat'] } };
  const policy = { owners: ['alice'], chatting: ['bob'], silent: ['carol'] };
  expect(check(mailed, policy)).toMatchObject([{ ok: true, detail: '2 groups; none to silent' }]);
});

test('a group that no policy has, and people without an address, are failures', () => {
  const groups = { owners: { channels: ['mail'] }, leads: { channels: ['chat'] } };
  expect(check(groups, { owners: ['carol', 'alice', 'bob'] })).toMatchObject([
    { ok: false, name: 'notices to owners', detail: 'no address for bob, carol, so no mail reaches them' },
    { ok: false, name: 'notices to leads' },
    { ok: true, detail: '2 groups' },
  ]);
});

test('a group that only escalation names gets its notices, except mail, which goes to the members in the policy', () => {
  const owners = { channels: ['chat'], escalate: { after: '1h', to: 'leads' } };
  const policy = { owners: ['alice'] };
  expect(check({ owners, leads: { channels: ['chat'] } }, policy)).toMatchObject([{ ok: true, detail: '2 groups' }]);
  expect(check({ owners, leads: { channels: ['chat'] } }, {})).toMatchObject([
    { ok: false, detail: 'no policy has this group, so its notices are not sent' },
    { ok: false, detail: 'no policy has this group, so its notices are not sent' },
    { ok: true },
  ]);
  expect(check({ owners, leads: { channels: ['chat', 'mail'] } }, policy)).toMatchObject([
    { ok: false, name: 'notices to leads', detail: 'no policy has this group, so no mail reaches it' },
    { ok: true },
  ]);
});
