/** Registered keys that use more than their rights through the gateway, and junk that should shut approvers out. */
import { CountersignError, type ErrorCode } from '../../../client/errors';
import type { GatewayClient } from '../../../client/gateway-client';
import { createSigner } from '../../../client/signer';
import { signSubmission } from '../../../client/submission';
import type { KeyGrant } from '../../../signing/registry-entry';
import { newKeyPair, type SigningKey } from '../../../signing/keys';
import { answerRefused, refundOrder, withoutRow, type Attack } from '../attack';
import { ifRefused } from '../if-refused';
import type { Testbed } from '../testbed';

const AGENT = { kind: 'service', subject: { type: 'agent', id: 'other-agent' } } as const;
const PERSON = { kind: 'approver', subject: { type: 'person', id: 'alice' } } as const;

const stranger = (testbed: Testbed, grant: Partial<Pick<KeyGrant, 'tenants' | 'rights'>>): Promise<SigningKey> =>
  testbed.operator.addKey({ ...AGENT, onBehalfOf: 'eve' }, grant);

/** Null if the call was refused with this code. */
async function refusedWith(code: ErrorCode, call: Promise<unknown>): Promise<string | null> {
  try {
    return `was answered: ${JSON.stringify(await call).slice(0, 200)}`;
  } catch (error) {
    if (error instanceof CountersignError && error.code === code) return null;
    return `failed otherwise: ${String(error)}`;
  }
}

/** A key calls the gateway about a review that waits for an answer, and is refused with this code. */
function onOpenReview(
  name: string,
  grant: Partial<Pick<KeyGrant, 'tenants' | 'rights'>>,
  code: ErrorCode,
  call: (client: GatewayClient, changeId: string, testbed: Testbed) => Promise<unknown>,
): Attack {
  return {
    name: `gateway: ${name}`,
    async run(testbed) {
      const { changeId } = await testbed.submitAndWait(refundOrder(26));
      const client = testbed.gateway(await stranger(testbed, grant));
      return withoutRow(changeId, `gateway: ${code}`, await refusedWith(code, call(client, changeId, testbed)));
    },
  };
}

const WITHOUT_RIGHT = answerRefused('not_eligible', 'is not registered with the right "answer"');

const history = async (testbed: Testbed, changeId: string): Promise<number> =>
  (await testbed.temporal.workflow.getHandle(changeId).describe()).historyLength;

export const GATEWAY: readonly Attack[] = [
  onOpenReview('a key of another tenant reads a review', { tenants: ['other'] }, 'not_found', (client, changeId) =>
    client.status(changeId),
  ),
  onOpenReview('a key of another tenant lists reviews', { tenants: ['other'] }, 'not_eligible', (client) =>
    client.list(),
  ),
  onOpenReview('a key of another tenant submits', { tenants: ['other'] }, 'not_eligible', (client) =>
    client.submit({ target: 'shop', ...refundOrder(26) }),
  ),
  onOpenReview('a key of another tenant withdraws a review', { tenants: ['other'] }, 'not_found', (client, changeId) =>
    client.withdraw(changeId),
  ),
  onOpenReview('a key without rights reads a review', { rights: [] }, 'not_eligible', (client, changeId) =>
    client.status(changeId),
  ),
  onOpenReview(
    'a key that may only read withdraws a review',
    { rights: ['read'] },
    'not_eligible',
    (client, changeId) => client.withdraw(changeId),
  ),
  onOpenReview('a service key relays a genuine answer', {}, 'not_eligible', async (client, changeId, testbed) => {
    const status = await testbed.waiting(changeId);
    return client.answer(changeId, testbed.sign(status, testbed.keyOf('bob')));
  }),
  {
    name: 'gateway: an approver key without the right to answer confirms by update',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(27));
      const key = await testbed.operator.addKey(PERSON, { rights: ['read'] });
      await testbed.update(status.changeId, testbed.sign(status, key));
      return { changeId: status.changeId, refusal: WITHOUT_RIGHT };
    },
  },
  {
    name: 'gateway: an approver key of another tenant confirms by signal',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(27));
      const key = await testbed.operator.addKey(PERSON, { tenants: ['other'] });
      await testbed.signal(status.changeId, testbed.sign(status, key));
      await testbed.waitForRow(status.changeId, WITHOUT_RIGHT);
      return { changeId: status.changeId, refusal: WITHOUT_RIGHT };
    },
  },
  {
    name: 'gateway: 26 junk answers of 60 kB, then a person must be able to reject',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(28));
      const { changeId } = status;
      // Of her own, because the gateway then takes no more answers of this key for minutes.
      const alice = await testbed.operator.addKey(PERSON);
      const [genuine] = testbed.sign(status, alice);
      const junk = Array.from({ length: 26 }, () => ({
        ...genuine!,
        payload: Buffer.alloc(45_000, 7).toString('base64'),
      }));
      const before = await history(testbed, changeId);
      const flooder = testbed.gateway(alice);
      await Promise.allSettled(junk.map((answer) => flooder.answer(changeId, [answer])));
      const grown = (await history(testbed, changeId)) - before;
      const bob = testbed.keyOf('bob');
      const codes = await testbed.gateway(bob).answer(changeId, testbed.sign(status, bob, 'reject'));
      const rejected = Object.values(codes).every(({ code }) => code === 'accepted');
      const heard = rejected ? null : `a person could not reject: ${JSON.stringify(codes)}`;
      const achieved = grown === 0 ? heard : `the history grew by ${grown} events`;
      return { changeId, refusal: answerRefused('malformed'), achieved };
    },
  },
  {
    name: 'gateway: a submission by a key without the right to submit, sent through Temporal',
    async run(testbed) {
      const { changeId } = await testbed.submitAndWait(refundOrder(29));
      const key = { ...(await stranger(testbed, { rights: ['read'] })), onBehalfOf: 'eve' };
      const prepared = await testbed.prepared(refundOrder(29));
      const submission = signSubmission(prepared, createSigner(key), new Date());
      await testbed.startReview(prepared.changeId, submission);
      const ended = await testbed.temporal.workflow
        .getHandle(prepared.changeId)
        .result()
        .then(String, (error: { cause?: Error }) => error.cause?.message ?? 'failed');
      const achieved = ended.includes('right "submit"') ? null : `the review was opened: ${ended}`;
      return withoutRow(changeId, 'openReview: the key lacks the right "submit"', achieved);
    },
  },
  {
    name: 'gateway: the requester is registered as "person:alice", so that alice could confirm the own change',
    async run(testbed) {
      const { changeId } = await testbed.submitAndWait(refundOrder(29));
      const names = ['person:alice', 'Alice', 'alice '];
      const words = 'onBehalfOf: expected 1 to 200 of a-z';
      const register = async (onBehalfOf: string): Promise<string> => {
        await testbed.operator.addKey({ ...AGENT, onBehalfOf });
        return onBehalfOf;
      };
      const registered = await Promise.all(names.map((name) => ifRefused(register(name), [words], null)));
      const accepted = registered.filter((name) => name !== null);
      const achieved = accepted.length === 0 ? null : `registered as ${accepted.join(', ')}`;
      return withoutRow(changeId, `registry: ${words}`, achieved);
    },
  },
  {
    name: 'gateway: metrics and answers of an unregistered key',
    async run(testbed) {
      const { changeId } = await testbed.submitAndWait(refundOrder(29));
      const metrics = await fetch(`${testbed.dev.gatewayUrl}/metrics`);
      const outsider = testbed.gateway(newKeyPair());
      const achieved =
        metrics.status === 404
          ? await refusedWith('unauthenticated', outsider.status(changeId))
          : `/metrics answered ${metrics.status}`;
      return withoutRow(changeId, 'gateway: unauthenticated', achieved);
    },
  },
];
