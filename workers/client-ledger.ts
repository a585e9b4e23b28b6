import { recordRefusedWithdrawal } from '../activities/review/admit-withdrawal';
import { recordLateAnswers } from '../activities/review/late-answers';
import { stagingRecords } from '../activities/committer/staging-records';
import { collectEvidence, type EvidenceSources } from '../activities/review/export-evidence';
import { rowOf, submissionIn } from '../activities/rows';
import type { ClientLedger } from '../client/ports';
import { ReceiptPredicate } from '../policy/contracts/outcome';
import type { Ledger } from '../policy/evidence/ledger-port';
import type { Database } from '../storage/database/database';
import { keyEnvelopes } from '../storage/keys/key-envelopes';
import { inclusionReader } from '../storage/ledger/inclusion';
import { createLedger } from '../storage/ledger/ledger';
import { ledgerNotifications, type LedgerNotifications } from '../storage/ledger/notifications';
import { operatorVerifier, publishedPolicies } from '../storage/plans/stored-revisions';
import { createByteStore } from '../storage/store/byte-store';
import type { KeyRing } from '../storage/store/preview-cipher';
import { spendApproval } from './spend-approval';
import type { OperatorKey } from '../signing/operator-key';

interface ClientLedgerOptions {
  readonly db: Database;
  /** Connection string for the one connection that listens for new rows. */
  readonly databaseUrl: string;
  readonly applicationName: string;
  readonly operators: readonly OperatorKey[];
  /** Decrypts previews; null if they are not encrypted. */
  readonly payloadKeys: KeyRing | null;
  readonly now: () => Date;
}

/** The ledger for client, CLI and gateway: reads what people are shown, and records messages that came too late. */
export function clientLedger(options: ClientLedgerOptions): ClientLedger & Omit<LedgerNotifications, 'watch'> {
  const { db, now } = options;
  const ledger = createLedger(db);
  const notifications = ledgerNotifications({ url: options.databaseUrl, applicationName: options.applicationName });
  // Neither history nor inclusion is needed to show a review, and both take long to read.
  const sources: EvidenceSources = { ...evidenceSources(db, options), history: async () => null };
  const shown: EvidenceSources = { ...sources, inclusion: { covering: async () => null } };
  return {
    list: (query) => ledger.listReviews(query),
    rows: (changeId) => ledger.read(changeId),
    bundle: async (changeId, { inclusion = false, preview = true } = {}) =>
      (await summaryOf(ledger, changeId)) === null
        ? null
        : await collectEvidence(inclusion ? sources : shown, changeId, {
            bytes: true,
            preview,
          }),
    summary: (changeId) => summaryOf(ledger, changeId),
    watch: (changeId) => notifications.watch(changeId),
    recordLate: async (changeId, message, why) =>
      void (await recordLateAnswers({ ledger, now }, changeId, message, { code: 'closed', message: why })),
    recordLateWithdrawal: async (changeId, kind, message, why) =>
      void (await recordRefusedWithdrawal(
        { ledger, now },
        changeId,
        { kind, message, via: 'late' },
        { code: 'too_late', message: why },
      )),
    spend: (changeId, nonce, keyId) => spendApproval(ledger, now, { changeId, nonce, keyId }),
    onEach: (listener) => notifications.onEach(listener),
    connection: () => notifications.connection(),
    close: () => notifications.close(),
  };
}

/** Where evidence is read from, except the history in Temporal. */
export function evidenceSources(
  db: Database,
  { operators, payloadKeys }: Pick<ClientLedgerOptions, 'operators' | 'payloadKeys'>,
): Omit<EvidenceSources, 'history'> {
  return {
    ledger: createLedger(db),
    store: createByteStore(db),
    previews: stagingRecords(db, payloadKeys),
    keys: keyEnvelopes(db, operators),
    inclusion: inclusionReader(db),
    policy: { ...publishedPolicies(db), ...operatorVerifier(operators) },
  };
}

/** Null before the change is opened: a change that has only rows of refusals is not a review. */
async function summaryOf(
  ledger: Pick<Ledger, 'readKinds'>,
  changeId: string,
): Promise<{ readonly tenant: string | null; readonly ended: boolean } | null> {
  const rows = await ledger.readKinds(changeId, ['submitted', 'receipt', 'closed']);
  if (rows.length === 0) return null;
  const receipt = ReceiptPredicate.safeParse(rowOf(rows, 'receipt')?.body['predicate']);
  return {
    tenant: submissionIn(rows)?.tenant ?? receipt.data?.tenant ?? null,
    ended: rowOf(rows, 'closed') !== undefined,
  };
}
