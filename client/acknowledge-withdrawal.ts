import { canonicalJson } from '../policy/contracts/canonical-json';
import type { LedgerRow } from '../policy/contracts/ledger';
import {
  WithdrawCode,
  type SupersedeMessage,
  type WithdrawMessage,
  type WithdrawResult,
} from '../policy/contracts/withdrawal';
import { messageDigest } from '../policy/evidence/dsse';
import { readBack, type WatchedRows } from './read-back';

/**
 * What became of a withdrawal that was sent, by the ledger. `said` is what the review replied, which anyone who can write to the
 * namespace can forge; null without a valid reply. Without a row the result is `sent`: the change may or may not be withdrawn.
 */
export async function acknowledgeWithdrawal(
  changeId: string,
  message: WithdrawMessage | SupersedeMessage,
  said: WithdrawResult | null,
  ledger: WatchedRows,
): Promise<WithdrawResult> {
  const rows = await readBack(changeId, ledger, (read) => withdrawalInRows(message, read) !== null);
  const found = withdrawalInRows(message, rows);
  if (found === null) return unacknowledgedWithdrawal(said);
  return found.code === 'accepted' && said?.code === 'duplicate' ? { ...found, code: 'duplicate' } : found;
}

/** The result of a client that can read no rows. */
export function unacknowledgedWithdrawal(said: WithdrawResult | null): WithdrawResult {
  const reply = said === null ? '' : `. The review replied "${said.code}: ${said.message}", which nothing proves`;
  return { code: 'sent', message: `sent, but not acknowledged: no row of the ledger has it${reply}` };
}

/** Codes that a row of a refusal can have. */
const RefusalCode = WithdrawCode.exclude(['accepted', 'duplicate', 'sent']);

/** `duplicate`: the change was withdrawn or superseded by another statement. Null: the ledger has no row for the message. */
export function withdrawalInRows(
  message: WithdrawMessage | SupersedeMessage,
  rows: readonly LedgerRow[],
): WithdrawResult | null {
  const stop = rows.find(({ kind }) => kind === 'withdrawn' || kind === 'superseded');
  if (stop !== undefined) {
    const { statement = null, by = null, explanation } = stop.body;
    const own =
      'by' in message
        ? statement === null && by === message.by
        : canonicalJson(statement) === canonicalJson(message.statement);
    return { code: own ? 'accepted' : 'duplicate', message: String(explanation) };
  }
  const digest = messageDigest(message);
  const refused = rows.findLast(({ kind, body }) => kind === 'answer_refused' && body['digest'] === digest);
  const code = RefusalCode.safeParse(refused?.body['code']);
  return refused !== undefined && code.success ? { code: code.data, message: String(refused.body['message']) } : null;
}
