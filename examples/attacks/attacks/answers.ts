/** Invalid answers: forged, signed with the wrong key, by the wrong person, or too late. */
import type { ReviewStatus } from '../../../policy/contracts/status';
import { newKeyPair } from '../../../signing/keys';
import { answerRefused, raisePay, refundOrder, refused, unsignedAnswers, type Attack } from '../attack';
import type { Testbed } from '../testbed';

/** Sends the answers that `make` forges for an open review by update, and expects this refusal. */
function forged(
  name: string,
  [code, words]: readonly [string, string],
  make: (testbed: Testbed, status: ReviewStatus) => Promise<readonly unknown[]> | readonly unknown[],
): Attack {
  return {
    name,
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(1));
      const { changeId } = status;
      await testbed.update(changeId, await make(testbed, status));
      return { changeId, refusal: answerRefused(code, words) };
    },
  };
}

/** Replaces the key id of the signatures without signing again. */
function under(keyId: string, envelope: { readonly payload: string; readonly signatures: readonly { sig: string }[] }) {
  return { ...envelope, signatures: envelope.signatures.map(({ sig }) => ({ keyid: keyId, sig })) };
}

export const ANSWERS: readonly Attack[] = [
  {
    name: 'forged signal: plain JSON with the name of an approver',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(1));
      const { changeId } = status;
      await testbed.signal(changeId, unsignedAnswers(status));
      const refusal = answerRefused('unsigned_not_accepted');
      await testbed.waitForRow(changeId, refusal);
      return { changeId, refusal };
    },
  },
  forged(
    'forged update: the key id of an approver, signed with another key',
    ['bad_signature', 'the signature is not valid for key'],
    (testbed, status) => {
      const alice = testbed.keyOf('alice');
      const mallory = { ...newKeyPair(), keyId: alice.keyId };
      return testbed.sign(status, mallory).map((envelope) => under(alice.keyId, envelope));
    },
  ),
  forged('forged update: an unregistered key', ['unknown_key', 'is not in the registry'], (testbed, status) =>
    testbed.sign(status, newKeyPair()),
  ),
  forged('an answer signed with a stolen agent key', ['not_eligible', 'is registered as service'], (testbed, status) =>
    testbed.sign(status, testbed.keyOf('agent')),
  ),
  forged(
    'an answer by an agent registered as an approver',
    ['not_eligible', 'belongs to the agent "alice"'],
    async (testbed, status) =>
      testbed.sign(
        status,
        await testbed.operator.addKey({ kind: 'approver', subject: { type: 'agent', id: 'alice' } }),
      ),
  ),
  forged(
    'an answer by the person on whose behalf the agent acts',
    ['not_eligible', 'four eyes require another person'],
    async (testbed, status) =>
      testbed.sign(
        status,
        await testbed.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'dana' } }),
      ),
  ),
  forged('an expired answer', ['expired', 'expired at'], (testbed, status) => {
    const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
    return testbed.sign(status, testbed.keyOf('alice'), 'confirm', { issuedAt: at(60), expiresAt: at(1) });
  }),
  forged('an answer issued in the future', ['expired', 'which is in the future'], (testbed, status) =>
    testbed.sign(status, testbed.keyOf('alice'), 'confirm', {
      issuedAt: new Date(Date.now() + 3_600_000).toISOString(),
    }),
  ),
  forged('an answer signed with a revoked key', ['revoked_key', 'was revoked at'], async (testbed, status) => {
    const key = await testbed.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'bob' } });
    await testbed.operator.revokeKey(key.keyId);
    return testbed.sign(status, key);
  }),
  {
    name: 'a key that is revoked after its answer was accepted',
    async run(testbed) {
      const status = await testbed.submitAndWait(raisePay(1));
      const { changeId } = status;
      const key = await testbed.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'bob' } });
      await testbed.update(changeId, testbed.sign(status, key));
      await testbed.operator.revokeKey(key.keyId);
      await testbed.update(changeId, testbed.sign(status, testbed.keyOf('alice')));
      await testbed.ended(changeId);
      return { changeId, refusal: refused('decision', `revoked_key: key ${key.keyId}`) };
    },
  },
  {
    name: 'one person with two keys instead of two people',
    async run(testbed) {
      const status = await testbed.submitAndWait(raisePay(2));
      const { changeId } = status;
      const second = await testbed.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'alice' } });
      await testbed.update(changeId, testbed.sign(status, testbed.keyOf('alice')));
      await testbed.update(changeId, testbed.sign(status, second));
      const waits = await testbed.waiting(changeId);
      await testbed.scheduleCommit(waits);
      return { changeId, refusal: refused('decision', '1 violations lack a valid answer') };
    },
  },
];
