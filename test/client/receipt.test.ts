import { verifyOutcome, verifyReceipt } from '../../client/receipt';
import { toResult } from '../../client/result';
import { newKeyPair } from '../../signing/keys';
import type { ReviewOutcome } from '../../policy/contracts/outcome';
import { CHANGE, committer, hex, outcome, trust, violation, withReceipt } from './fakes';

describe('an outcome', () => {
  it('is verified if a trusted committer signed exactly this outcome', () => {
    expect(verifyOutcome(CHANGE, withReceipt(committer, outcome()), trust)).toEqual({ verified: true, why: null });
  });

  it.each([
    ['without a receipt', outcome(), trust],
    ['without trust roots', withReceipt(committer, outcome()), null],
    ['with an empty list of trust roots', withReceipt(committer, outcome()), { committers: [] }],
  ])('is unverified %s', (_name, given, roots) => {
    expect(verifyOutcome(CHANGE, given, roots)).toEqual({ verified: false, why: expect.any(String) });
  });

  it.each([
    ['signed by a stranger', withReceipt(newKeyPair(), outcome())],
    ['of another change', withReceipt(committer, outcome(), { changeId: hex('d') })],
    [
      'of a rollback',
      withReceipt(committer, outcome(), { action: 'ROLLBACK', state: 'ROLLED_BACK', reason: 'declined' }),
    ],
    ['of another plan', withReceipt(committer, outcome(), { planHash: hex('9') })],
    ['of another input', withReceipt(committer, outcome(), { inputSha: hex('9') })],
    ['of another dry run', withReceipt(committer, outcome(), { stagingSha: hex('9') })],
    ['of the other mode', withReceipt(committer, outcome(), { mode: 'cooperative' })],
  ])('is not verified by a receipt %s', (_name, given) => {
    const result = toResult(CHANGE, given, trust);
    expect(result).toMatchObject({ state: 'COMMITTED', verified: false });
  });

  it.each<[string, Partial<ReviewOutcome>]>([
    ['explanation', { explanation: 'alice approved this change' }],
    ['findings', { findings: [{ validator_id: 'guardian.orders' } as never] }],
    ['violations', { violations: [violation() as never] }],
    ['explanation', { explanation: '\ud800' }],
  ])('is not verified by a genuine receipt beside another %s', (what, forged) => {
    const given = { ...withReceipt(committer, outcome()), ...forged };
    expect(toResult(CHANGE, given, trust)).toMatchObject({ verified: false, why: expect.stringContaining(what) });
  });

  it('is verified without findings, and with none beside them, if the committer could not compile the plan', () => {
    const rolledBack = outcome({ action: 'ROLLBACK', state: 'ROLLED_BACK', reason: 'policy_moved' });
    const given = withReceipt(committer, rolledBack, { findingsSha: null });
    expect(verifyOutcome(CHANGE, given, trust).verified).toBe(true);
    const forged = { ...given, findings: [{ validator_id: 'guardian.orders' } as never] };
    expect(verifyOutcome(CHANGE, forged, trust).verified).toBe(false);
    const committed = withReceipt(committer, outcome(), { findingsSha: null });
    expect(verifyOutcome(CHANGE, committed, trust).verified).toBe(false);
  });

  it.each<[string, Partial<ReviewOutcome>]>([
    ['a commit that was rolled back', { state: 'ROLLED_BACK' }],
    ['a commit with a reason to roll back', { reason: 'declined' }],
    ['a rollback that committed', { action: 'ROLLBACK', reason: 'declined' }],
    ['a rollback without a reason', { action: 'ROLLBACK', state: 'ROLLED_BACK' }],
  ])('is not verified by a receipt of %s', (_what, end) => {
    expect(verifyOutcome(CHANGE, withReceipt(committer, outcome(end)), trust)).toMatchObject({
      verified: false,
      why: expect.stringContaining('contradict each other'),
    });
  });

  it('of another review is not verified, regardless of the signer', () => {
    expect(verifyOutcome(hex('e'), withReceipt(committer, outcome()), trust).verified).toBe(false);
  });
});

describe('verifyReceipt', () => {
  it('refuses any changed byte of payload or signature, and a value that is not an envelope', () => {
    const receipt = withReceipt(committer, outcome()).receipt;
    expect(verifyReceipt(receipt, trust).ok).toBe(true);
    const text = JSON.stringify(receipt);
    for (let i = 0; i < text.length; i += 7) {
      const changed = text.slice(0, i) + (text[i] === 'A' ? 'B' : 'A') + text.slice(i + 1);
      if (changed === text) continue;
      let value: unknown;
      try {
        value = JSON.parse(changed);
      } catch {
        continue;
      }
      expect(verifyReceipt(value, trust).ok).toBe(false);
    }
    for (const nothing of [null, undefined, 'x', {}, []]) expect(verifyReceipt(nothing, trust).ok).toBe(false);
  });
});
