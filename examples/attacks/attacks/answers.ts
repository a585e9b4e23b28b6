/** Answers that nobody entitled gave: forged, by the wrong key, by the wrong person, too late. */
import { newKeyPair } from '../../../signing/keys';
import { answerRefused, raisePay, refundOrder, refused, type Attack } from '../attack';
import type { Ground } from '../ground';

/** Sends what `make` forges of an open review by update, and expects this refusal. */
function forged(
  name: string,
  code: string,
  make: (ground: Ground, ...args: Parameters<Make>) => ReturnType<Make>,
): Attack {
  return {
    name,
    async run(ground) {
      const status = await ground.asked(refundOrder(1));
      const { changeId } = status;
      await ground.update(changeId, await make(ground, status));
      return { changeId, refusal: answerRefused(code) };
    },
  };
}
type Make = (status: Awaited<ReturnType<Ground['asked']>>) => Promise<readonly unknown[]> | readonly unknown[];

/** Under the key id of a person, signed with another key. */
function under(keyId: string, envelope: { readonly payload: string; readonly signatures: readonly { sig: string }[] }) {
  return { ...envelope, signatures: envelope.signatures.map(({ sig }) => ({ keyid: keyId, sig })) };
}

export const ANSWERS: readonly Attack[] = [
  {
    name: 'forged signal: plain JSON in the name of an approver',
    async run(ground) {
      const { changeId, fingerprint, violations } = await ground.asked(refundOrder(1));
      const answers = violations.map(({ violationId }) => ({
        violationId,
        fingerprint,
        decision: 'confirm',
        reason: 'fine',
        actor: 'alice',
      }));
      await ground.signal(changeId, answers);
      const refusal = answerRefused('unsigned_not_accepted');
      await ground.row(changeId, refusal);
      return { changeId, refusal };
    },
  },
  forged('forged update: an approver’s key id over another key’s signature', 'bad_signature', (ground, status) => {
    const alice = ground.person('alice');
    const mallory = { ...newKeyPair(), keyId: alice.keyId };
    return ground.sign(status, mallory).map((envelope) => under(alice.keyId, envelope));
  }),
  forged('forged update: a key that nobody registered', 'unknown_key', (ground, status) =>
    ground.sign(status, newKeyPair()),
  ),
  forged('stolen agent key signs an answer', 'not_eligible', (ground, status) =>
    ground.sign(status, ground.person('agent')),
  ),
  forged('an agent that was registered as an approver', 'not_eligible', async (ground, status) =>
    ground.sign(status, await ground.operator.addKey({ kind: 'approver', subject: { type: 'agent', id: 'alice' } })),
  ),
  forged('the person behind the agent confirms its change', 'not_eligible', async (ground, status) =>
    ground.sign(status, await ground.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'dana' } })),
  ),
  forged('an answer that has expired', 'expired', (ground, status) => {
    const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
    return ground.sign(status, ground.person('alice'), 'confirm', { issuedAt: at(60), expiresAt: at(1) });
  }),
  forged('an answer signed ahead of its time', 'expired', (ground, status) =>
    ground.sign(status, ground.person('alice'), 'confirm', {
      issuedAt: new Date(Date.now() + 3_600_000).toISOString(),
    }),
  ),
  forged('a key that was revoked', 'revoked_key', async (ground, status) => {
    const key = await ground.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'bob' } });
    await ground.operator.revokeKey(key.keyId);
    return ground.sign(status, key);
  }),
  {
    name: 'a key that is revoked after its answer was counted',
    async run(ground) {
      const status = await ground.asked(raisePay(1));
      const { changeId } = status;
      const key = await ground.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'bob' } });
      await ground.update(changeId, ground.sign(status, key));
      await ground.operator.revokeKey(key.keyId);
      await ground.update(changeId, ground.sign(status, ground.person('alice')));
      await ground.ended(changeId);
      return { changeId, refusal: refused('decision') };
    },
  },
  {
    name: 'one person with two keys, where two people are needed',
    async run(ground) {
      const status = await ground.asked(raisePay(2));
      const { changeId } = status;
      const second = await ground.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'alice' } });
      await ground.update(changeId, ground.sign(status, ground.person('alice')));
      await ground.update(changeId, ground.sign(status, second));
      const waits = await ground.waiting(changeId);
      await ground.commitByHand(waits);
      return { changeId, refusal: refused('decision') };
    },
  },
];
