import {
  admittedIn,
  AnswerCode,
  type AnswerMessage,
  type AnswerResult,
  type AnswerResults,
} from '../policy/contracts/answer';
import { canonicalJson } from '../policy/contracts/canonical-json';
import type { LedgerRow } from '../policy/contracts/ledger';
import { lastWords } from '../policy/decide/last-words';
import { messageDigest, openEnvelope } from '../policy/evidence/dsse';
import { readBack, type WatchedRows } from './read-back';

/** The verified owners of keys, by key id. A person may have several keys. */
export type KeyOwners = ReadonlyMap<string, string>;

/**
 * What became of answers that were sent, by the ledger. `said` is what the review replied: anyone who can write to the namespace can
 * forge it, so it only tells what to look for. An answer without a row is `sent`: it may or may not count. Unless the review replied
 * `duplicate`, a row of the answer itself is awaited before it is a duplicate of another: it may be refused, or count, a moment later.
 */
export async function acknowledge(
  changeId: string,
  sent: AnswerMessage['answers'],
  said: AnswerResults,
  ledger: WatchedRows,
  owners: KeyOwners = new Map(),
): Promise<AnswerResults> {
  const resultsIn = (rows: readonly LedgerRow[]): (AnswerResult | null)[] =>
    sent.map((answer) => resultInRows(answer, rows, owners));
  const keys = answerKeys({ answers: [...sent] });
  const isFinal = (result: AnswerResult | null, i: number): boolean =>
    result !== null && (result.code !== 'duplicate' || said[keys[i] ?? '']?.code === 'duplicate');
  const rows = await readBack(changeId, ledger, (read) => resultsIn(read).every(isFinal));
  return byKey(sent, resultsIn(rows), said);
}

/** The results of a client that can read no rows. */
export function unacknowledged(sent: AnswerMessage['answers'], said: AnswerResults): AnswerResults {
  return byKey(
    sent,
    sent.map(() => null),
    said,
  );
}

/**
 * What became of answers that no workflow accepts any more: `accepted` or `duplicate` by their rows, `closed` for the others. `late` are
 * those others.
 */
export function acknowledgeAfterEnd(
  sent: AnswerMessage['answers'],
  closed: string,
  rows: readonly LedgerRow[],
  owners: KeyOwners,
): { readonly results: AnswerResults; readonly late: AnswerMessage['answers'] } {
  const recorded = sent.map((answer) => {
    const found = resultInRows(answer, rows, owners);
    return found?.code === 'accepted' || found?.code === 'duplicate' ? found : null;
  });
  const results = recorded.map((found) => found ?? { code: 'closed' as const, message: closed });
  return { results: byKey(sent, results, {}), late: sent.filter((_, i) => recorded[i] === null) };
}

/** Kinds of rows with an answer that counts. */
const COUNTED: ReadonlySet<string> = new Set(['answer_accepted', 'retracted']);
/** Codes that a row of a refusal can have. */
const RefusalCode = AnswerCode.exclude(['accepted', 'duplicate', 'sent']);

function resultInRows(
  answer: AnswerMessage['answers'][number],
  rows: readonly LedgerRow[],
  owners: KeyOwners,
): AnswerResult | null {
  const text = canonicalJson(answer);
  const counted = rows.filter(({ kind }) => COUNTED.has(kind));
  const own = counted.find(({ body }) => canonicalJson(body['answer'] ?? null) === text);
  const digest = messageDigest(answer);
  const refused = rows.findLast(({ kind, body }) => kind === 'answer_refused' && body['digest'] === digest);
  // Recorded before, but the same person has signed a later answer since.
  const replaced = own !== undefined && refused?.body['code'] === 'superseded' && refused.n > own.n;
  if (own !== undefined && !replaced)
    return { code: 'accepted', message: `${String(own.body['decision'])} by ${String(own.body['person'])}` };
  if (refused !== undefined) {
    const code = RefusalCode.safeParse(refused.body['code']);
    return code.success ? { code: code.data, message: String(refused.body['message']) } : null;
  }
  return isRepeated(answer, counted, owners)
    ? { code: 'duplicate', message: 'this answer was already recorded' }
    : null;
}

/**
 * Whether another answer of the same person, which counts, has the same decision, as `afterOthers` of the admission judges it. A key of
 * an unknown owner counts for itself. The rows do not say whether the key of that answer was revoked since.
 */
function isRepeated(answer: unknown, counted: readonly LedgerRow[], owners: KeyOwners): boolean {
  const opened = openEnvelope('answer', answer);
  if (!opened.ok) return false;
  const { violationId, fingerprint, decision, retracts } = opened.statement.predicate;
  const person = owners.get(opened.keyid) ?? counted.find(({ body }) => body['keyId'] === opened.keyid)?.body['person'];
  const own = counted
    .flatMap((row) => admittedIn(row) ?? [])
    .filter((other) => other.signed && other.person === person && other.violationId === violationId);
  // On any fingerprint: a reject is final.
  if (decision === 'confirm' && own.some((other) => other.decision === 'reject')) return false;
  const given = own.filter((other) => other.fingerprint === fingerprint);
  if (decision === 'retract') return given.some((other) => other.retracts === retracts);
  return lastWords(given)[0]?.decision === decision;
}

function byKey(
  sent: AnswerMessage['answers'],
  found: readonly (AnswerResult | null)[],
  said: AnswerResults,
): AnswerResults {
  const results: AnswerResults = {};
  const keys = answerKeys({ answers: [...sent] });
  const counts = (i: number): boolean => found[i]?.code === 'accepted' || found[i]?.code === 'duplicate';
  const order = sent.map((_, i) => i).sort((a, b) => Number(counts(b)) - Number(counts(a)));
  for (const i of order) {
    const key = keys[i] === undefined || keys[i] in results ? `#${i}` : keys[i];
    results[key] = resultOf(found[i] ?? null, said[keys[i] ?? '']);
  }
  return results;
}

function resultOf(found: AnswerResult | null, said: AnswerResult | undefined): AnswerResult {
  if (found !== null)
    return found.code === 'accepted' && said?.code === 'duplicate' ? { ...found, code: 'duplicate' } : found;
  const reply = said === undefined ? '' : `. The review replied "${said.code}: ${said.message}", which nothing proves`;
  return { code: 'sent', message: `sent, but not acknowledged: no row of the ledger has it${reply}` };
}

/** The key of each answer in `AnswerResults`: its violation id, or `#0`, `#1` … by position if the id cannot be read. Does not verify anything. */
function answerKeys(message: AnswerMessage): string[] {
  return message.answers.map((answer, i) => {
    if ('violationId' in answer) return answer.violationId;
    const opened = openEnvelope('answer', answer);
    return opened.ok ? opened.statement.predicate.violationId : `#${i}`;
  });
}
