/**
 * Whether a bundle proves what it says: no network, no database, no clock; the same answer on any machine.
 *
 * V1 Trust comes from the caller: operator keys, which vouch for policy and key registry, and committer keys, which vouch
 *    for the outcome. Nothing in the bundle makes itself trusted.
 * V2 Every member is bound to something signed or hashed, or the bundle fails. What binds nothing may not be there.
 * V3 A check that throws has failed; one whose ground failed has failed.
 * V4 Findings are taken as recorded here; `countersign replay` computes the derived ones again from the bytes.
 */
import type { Submission } from '../policy/contracts/diff';
import { inputSha as inputShaOf } from '../policy/contracts/change-id';
import type { LedgerRow } from '../policy/contracts/ledger';
import { ReceiptPredicate } from '../policy/contracts/outcome';
import { evidenceChecksum, parseEvidence, type EvidenceBundle } from '../policy/evidence/bundle';
import type { KeyLookup } from '../policy/evidence/key-registry';
import { Checks, fail, type EvidenceCheck } from './evidence/check';
import { checkAnswers, checkDecision } from './evidence/check-decision';
import { checkAttested, checkDisclosure, checkFindings, type EvidenceScope } from './evidence/check-findings';
import { readKeys, signerIds } from './evidence/check-keys';
import { checkPolicy, checkStaging, checkSubmission } from './evidence/check-policy';
import { checkReceipt, checkSettlement } from './evidence/check-receipt';
import { checkResolution } from './evidence/check-resolution';
import { checkInclusion, checkRows, rowOf } from './evidence/check-rows';
import { toPublicKeyObject } from './keys';
import { verifySubmission } from './verify-submission';

export type { EvidenceCheck } from './evidence/check';

/** The verifier's own trust: Ed25519 public keys, 64 lower-case hex digits each. */
export interface EvidenceTrust {
  readonly operators: readonly string[];
  readonly committers: readonly string[];
}

export interface EvidenceReport {
  /** `unverified`: all else holds, and no receipt says how it ended. Only `verified` is a ground to rely on. */
  readonly verdict: 'verified' | 'unverified' | 'failed';
  readonly changeId: string | null;
  /** What the receipt says; null where none of a trusted committer is here. */
  readonly outcome: Pick<ReceiptPredicate, 'action' | 'state' | 'reason' | 'mode' | 'at'> | null;
  /** Whether a signed checkpoint covers every row. Without one the order, the times and the absence of rows are the exporter's word. */
  readonly witnessed: boolean;
  readonly checks: readonly EvidenceCheck[];
}

/** Throws TypeError where a trusted key is none; never on what the file holds. */
export function verifyEvidence(file: string | Uint8Array, trust: EvidenceTrust): EvidenceReport {
  [...trust.operators, ...trust.committers].forEach(toPublicKeyObject);
  const parsed = parseEvidence(file);
  if (!parsed.ok) {
    const checks = [{ name: 'format', ok: false, detail: parsed.problem }];
    return { verdict: 'failed', changeId: null, outcome: null, witnessed: false, checks };
  }
  return verifyBundle(parsed.bundle, trust);
}

function verifyBundle(bundle: EvidenceBundle, trust: EvidenceTrust): EvidenceReport {
  const checks = new Checks();
  const rows = bundle.rows.map(({ row }) => row);
  checks.run('format', () => [bundle.format, true]);
  checks.run('checksum', () =>
    evidenceChecksum(bundle) === bundle.sha256 ? ['the file is whole', true] : fail('the file was damaged or changed'),
  );
  checks.run('rows', () => [checkRows(bundle), true]);
  checks.run('checkpoint', () =>
    bundle.inclusion === null
      ? ["none covers these rows yet: their order, times and number are the exporter's word", true]
      : [checkInclusion(bundle.rows, bundle.inclusion, trust.committers), true],
  );
  const receipt = checks.run('receipt', () => checkReceipt(bundle, rows, trust.committers));
  const submission = checks.run('submission', () => asValue(checkSubmission(bundle, rows)));
  const policy = checks.run(
    'policy',
    () => asValue(checkPolicy(bundle, rows, submission?.value ?? null, trust.operators)),
    [submission],
  );
  const planHash = policy?.value?.planHash ?? null;
  const keys = checks.run('keys', () => {
    const carried = readKeys(bundle.keys, signerIds(bundle.submission, rows), trust.operators);
    const at = (rowOf(rows, 'intent', 'decided') ?? rows.at(-1))?.at ?? '';
    const detail = `${bundle.keys.length} registry entries signed by an operator, ${carried.revoked} revoked`;
    return [detail, carried.lookupAt(at)];
  });
  const settled =
    receipt === null
      ? null
      : checks.run('settlement', () => checkSettlement(receipt, rows, submission?.value ?? null, planHash), [
          submission,
          policy,
        ]);
  if (receipt !== null) checks.run('effect', () => [checkResolution(receipt, rows, trust.operators), true], [receipt]);
  verifyDecision(checks, bundle, { rows, receipt, settled, submission, policy, keys });
  checks.run('history', () => [
    bundle.history === null
      ? 'not in the file'
      : `run ${bundle.history.runId}, ${bundle.history.events} events: the exporter's word, to compare with Temporal`,
    true,
  ]);
  return toReport(bundle, checks.done, receipt);
}

interface Ground {
  readonly rows: readonly LedgerRow[];
  readonly receipt: ReceiptPredicate | null;
  readonly settled: LedgerRow | null;
  readonly submission: Maybe<Submission> | null;
  readonly policy: Maybe<NonNullable<ReturnType<typeof checkPolicy>[1]>> | null;
  readonly keys: KeyLookup | null;
}

/** From the dry run to the decision, each step on the one before. */
function verifyDecision(
  checks: Checks,
  bundle: EvidenceBundle,
  { rows, receipt, settled, submission, policy, keys }: Ground,
): void {
  if (submission?.value === null || policy?.value === null) {
    if (bundle.receipt !== null) checks.run('decision', () => checkUnopened(bundle, receipt), [receipt]);
    return;
  }
  // Where its signature failed, the receipt's words still say what the other checks are about.
  const end = receipt ?? ReceiptPredicate.safeParse(rowOf(rows, 'receipt')?.body['predicate']).data ?? null;
  const selected = selectedStaging(rows, end);
  const staging = checks.run('staging', () => checkStaging(bundle, rows, selected), [submission]);
  const carried = policy?.value ?? null;
  const request = checks.run(
    'requester',
    () =>
      checkRequester(
        submission?.value ?? fail('none'),
        carried?.policy.plan.development ?? false,
        keys ?? fail('none'),
        rows,
      ),
    [submission, policy, keys],
  );
  const scope: EvidenceScope | null =
    submission === null || carried === null || keys === null || staging === null
      ? null
      : {
          changeId: bundle.changeId,
          submission: submission.value,
          plan: carried.policy.plan,
          planHash: carried.planHash,
          staging: staging === 'none' ? null : staging,
          rows,
          keys,
          end,
        };
  const known = (): EvidenceScope => scope ?? fail('not known');
  const records = checks.run('attested', () => checkAttested(known()), [scope]);
  const findings = checks.run('findings', () => checkFindings(bundle.findings, records ?? [], known()), [
    scope,
    records,
  ]);
  const disclosure = checks.run(
    'disclosure',
    () => checkDisclosure(findings ?? [], records ?? [], known(), request?.person ?? null),
    [findings, request],
  );
  const at = settled?.at ?? rows.at(-1)?.at ?? '';
  const answers = checks.run(
    'answers',
    () => checkAnswers(known(), disclosure ?? fail('none'), request?.person ?? null, at),
    [disclosure],
  );
  if (receipt === null) return;
  checks.run(
    'decision',
    () => {
      if (disclosure === null || answers === null || settled === null) fail('none');
      const of = {
        scope: known(),
        findings: findings ?? [],
        disclosure,
        answers,
        requester: request?.person ?? null,
        policyRevokedAt: carried?.revokedAt ?? null,
      };
      return [checkDecision(of, receipt, settled), true];
    },
    [answers, settled],
  );
}

/** A change that never had a plan can only have been rolled back, and nothing of it may be here that a plan would bind. */
function checkUnopened(bundle: EvidenceBundle, receipt: ReceiptPredicate | null): readonly [string, true] {
  if (receipt?.action !== 'ROLLBACK') fail('a change without a plan was committed');
  if (bundle.findings.length > 0 || bundle.staging !== null) fail('findings or a dry run of a change that had no plan');
  return [`ROLLBACK (${receipt.reason}) before a plan was pinned`, true];
}

function checkRequester(
  submission: Submission,
  development: boolean,
  keys: KeyLookup,
  rows: readonly LedgerRow[],
): readonly [string, { readonly person: string | null }] {
  const verified = verifySubmission(submission, { keys, development });
  if (!verified.ok && verified.code !== 'unsigned') fail(verified.message);
  const person = verified.ok ? verified.requester : null;
  const row = rowOf(rows, 'submitted');
  if (row === null || row.body['requester'] !== person || row.body['inputSha'] !== inputShaOf(submission))
    fail(`the row names another requester than ${person ?? 'nobody'}`);
  return [
    person === null
      ? 'unknown: four eyes need one person more'
      : `${person}, by the signature of key ${verified.ok ? verified.keyId.slice(0, 16) : ''}`,
    { person },
  ];
}

/** The dry run that was disclosed; where nothing was, the one that the receipt names, or the last. */
function selectedStaging(rows: readonly LedgerRow[], receipt: ReceiptPredicate | null): string | null {
  if (receipt !== null) return receipt.stagingSha;
  const disclosed = rowOf(rows, 'disclosed');
  const staged = rows.findLast((row) => row.kind === 'staged' && row.body['rejected'] !== true);
  const sha = disclosed === null ? staged?.body['stagingSha'] : disclosed.body['stagingSha'];
  return typeof sha === 'string' ? sha : null;
}

/** A value that may be absent, as the result of a check that held: null itself says that the check failed. */
interface Maybe<T> {
  readonly value: T | null;
}

function asValue<T>([detail, value]: readonly [string, T | null]): readonly [string, Maybe<T>] {
  return [detail, { value }];
}

function toReport(
  bundle: EvidenceBundle,
  checks: readonly EvidenceCheck[],
  receipt: ReceiptPredicate | null,
): EvidenceReport {
  const failed = checks.filter(({ ok }) => !ok);
  const onlyUnsettled = bundle.receipt === null && failed.every(({ name }) => name === 'receipt');
  const outcome =
    receipt === null
      ? null
      : { action: receipt.action, state: receipt.state, reason: receipt.reason, mode: receipt.mode, at: receipt.at };
  const verdict = failed.length === 0 ? 'verified' : onlyUnsettled ? 'unverified' : 'failed';
  return {
    verdict,
    changeId: bundle.changeId,
    outcome,
    witnessed: bundle.inclusion !== null && verdict !== 'failed',
    checks,
  };
}
