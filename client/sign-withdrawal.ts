import { z } from 'zod';
import type { SupersedeMessage, WithdrawMessage } from '../policy/contracts/withdrawal';
import { Sha256Hex } from '../policy/contracts/diff';
import { statementOf } from '../policy/evidence/statement';
import { newNonce } from '../signing/nonce';
import { parseChangeId, parseInput } from './parse';
import type { Signer } from './signer';

/** Why a change is withdrawn. `actor` is recorded as a claim; the owner of the key is the one who withdraws. */
export interface WithdrawInput {
  readonly reason?: string;
  readonly actor?: string;
}

/** `by`: the id of the change that replaces this one. It must have the same requester, target and source tool. */
export interface SupersedeInput extends WithdrawInput {
  readonly by: string;
}

const Withdraw = z.strictObject({ reason: z.string().optional(), actor: z.string().optional() });
const Supersede = Withdraw.extend({ by: Sha256Hex });

/** Signs a withdrawal with the service key that submitted the change, or with the key of an approver. */
export function signWithdrawal(changeId: string, input: WithdrawInput, signer: Signer, at: Date): WithdrawMessage {
  const given = parseInput(Withdraw, input, 'See WithdrawInput. Nothing was sent');
  return { statement: signer.sign(statementOf('withdraw', membersOf(changeId, given, signer, at))) };
}

/** Signs that another change replaces this one. Answers are not carried over. */
export function signSupersession(changeId: string, input: SupersedeInput, signer: Signer, at: Date): SupersedeMessage {
  const { by, ...given } = parseInput(Supersede, input, 'See SupersedeInput. Nothing was sent');
  return { statement: signer.sign(statementOf('supersede', { ...membersOf(changeId, given, signer, at), by })) };
}

function membersOf(changeId: string, { reason = '', actor }: z.infer<typeof Withdraw>, signer: Signer, at: Date) {
  return {
    changeId: parseChangeId(changeId),
    keyId: signer.keyId,
    actor: actor ?? signer.onBehalfOf ?? signer.keyId,
    reason,
    nonce: newNonce(),
    issuedAt: at.toISOString(),
  };
}
