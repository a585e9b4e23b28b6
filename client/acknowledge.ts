import type { AnswerMessage, AnswerResult, AnswerResults } from '../policy/contracts/answer';
import { canonicalJson } from '../policy/contracts/canonical-json';
import type { LedgerRow } from '../policy/contracts/ledger';
import { messageDigest, openEnvelope } from '../policy/evidence/dsse';
import { answerKeys } from './answer-keys';
import { readBack, type WatchedRows } from './read-back';

/**
 * What became of answers that were sent, by the ledger. `said` is what the review replied: anyone who can write to the namespace can
 * forge it, so it only tells what to look for. An answer without a row is `sent`: it may or may not count.
 */
export async function acknowledge(
  changeId: string,
  sent: AnswerMessage['answers'],
  said: AnswerResults,
  ledger: WatchedRows,
): Promise<AnswerResults> {
  const resultsIn = (rows: readonly LedgerRow[]): (AnswerResult | null)[] =>
    sent.map((answer) => resultInRows(answer, rows));
  const rows = await readBack(changeId, ledger, (read) => resultsIn(read).every((result) => result !== null));
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

/** Kinds of rows with an answer that counts. */
const COUNTED: ReadonlySet<string> = new Set(['answer_accepted', 'retracted']);

function resultInRows(answer: AnswerMessage['answers'][number], rows: readonly LedgerRow[]): AnswerResult | null {
  const text = canonicalJson(answer);
  const counted = rows.filter(({ kind }) => COUNTED.has(kind));
  const own = counted.find(({ body }) => canonicalJson(body['answer'] ?? null) === text);
  const digest = messageDigest(answer);
  const refused = rows.findLast(({ kind, body }) => kind === 'answer_refused' && body['digest'] === digest);
  // Recorded before, but the same person has signed a later answer since.
  const replaced = own !== undefined && refused?.body['code'] === 'superseded' && refused.n > own.n;
  if (own !== undefined && !replaced)
    return { code: 'accepted', message: `${String(own.body['decision'])} by ${String(own.body['person'])}` };
  if (refused !== undefined)
    return { code: refused.body['code'] as AnswerResult['code'], message: String(refused.body['message']) };
  const mine = decisionOf(answer);
  return mine !== null && counted.some(({ body }) => decisionOf(body['answer']) === mine)
    ? { code: 'duplicate', message: 'this answer was already recorded' }
    : null;
}

/** Equal for two answers in which one key decides the same about the same violation. */
function decisionOf(answer: unknown): string | null {
  const opened = openEnvelope('answer', answer);
  if (!opened.ok) return null;
  const { violationId, fingerprint, decision } = opened.statement.predicate;
  return `${opened.keyid} ${fingerprint} ${violationId} ${decision}`;
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
