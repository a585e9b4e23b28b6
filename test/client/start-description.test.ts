import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { describeStart } from '../../client/start-review';
import { createPayloadCodec } from '../../workers/encryption/payload-codec';

const name = 'n'.repeat(63);
const submission = {
  tenant: name,
  target: name,
  sourceTool: 'SQLDryRun',
  diffSha: 'd'.repeat(64),
  metadata: { note: 'secret' },
  requestKey: '',
};

it('names what the change does, in a code span on one line', () => {
  expect(describeStart({ ...submission, target: 'shop' }, 'UPDATE items').staticSummary).toBe('`UPDATE items` on shop');
  const hostile = describeStart({ ...submission, target: 'shop' }, '`](https://evil.example)\n# x').staticSummary;
  expect(hostile).toBe("`'](https://evil.example) # x` on shop");
});

it('names tool, tenant, target and digest if the title is unknown', () => {
  expect(describeStart(submission, null).staticSummary).toBe(`SQLDryRun on ${name}/${name}: dddddddddddd`);
});

it('contains nothing that the agent wrote beside the diff', () => {
  expect(JSON.stringify(describeStart(submission, 'UPDATE items'))).not.toContain('secret');
});

it.each([
  ['three bytes', '漢'.repeat(200)],
  ['four bytes', '🦊'.repeat(100)],
])('stays within the 400 bytes of the server with a title in characters of %s, also encrypted', async (_, title) => {
  const keyId = 'k'.repeat(64);
  const codec = createPayloadCodec({ current: keyId, keys: new Map([[keyId, Buffer.alloc(32)]]) });
  const payload = defaultPayloadConverter.toPayload(describeStart(submission, title).staticSummary);
  const [encrypted] = await codec.encode([payload]);
  expect(temporal.api.common.v1.Payload.encode(encrypted ?? {}).finish().length).toBeLessThanOrEqual(400);
});
