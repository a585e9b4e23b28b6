import { openEnvelope } from '../../../policy/evidence/dsse';
import { GENESIS, ledgerHash, type LedgerKind, type LedgerRow } from '../../../policy/contracts/ledger';
import type { EvidenceBundle } from '../../../policy/evidence/bundle';
import type { StoredRow } from '../../../policy/evidence/chain';
import type { PredicateOf } from '../../../policy/evidence/statement';
import { signPredicate } from '../../../signing/envelope';
import type { SigningKey } from '../../../signing/keys';

/** The rows, renumbered and with a valid hash chain: what an attacker who can write to the ledger can produce. */
export function chained(rows: readonly LedgerRow[]): StoredRow[] {
  let prev = GENESIS;
  return rows.map((row, n) => {
    const linked = { ...row, n, prev };
    prev = ledgerHash(linked);
    return { row: linked, hash: prev };
  });
}

/** `chained`, after `change`, which drops a row by returning null. */
export function rechained(rows: readonly StoredRow[], change: (row: LedgerRow) => LedgerRow | null): StoredRow[] {
  return chained(rows.flatMap(({ row }) => change(structuredClone(row)) ?? []));
}

/** `chained`, after `edit`, for evidence. Without the inclusion proof, because the attacker cannot sign a checkpoint. */
export function rewritten(bundle: EvidenceBundle, edit: (rows: LedgerRow[]) => readonly LedgerRow[]): EvidenceBundle {
  const rows = chained(edit(structuredClone(bundle.rows.map(({ row }) => row))));
  const hash = rows.at(-1)?.hash ?? GENESIS;
  return { ...structuredClone(bundle), rows, head: { rows: rows.length, hash }, inclusion: null };
}

/**
 * Evidence with a receipt that `key` signed after `change`. The rows agree with it, as a committer could write them: those of a
 * rollback become those of a commit, if it says so.
 */
export function resigned(bundle: EvidenceBundle, key: SigningKey, change: object): EvidenceBundle {
  let { receipt } = bundle;
  const made = rewritten(bundle, (rows) => {
    const bodyOf = (kind: LedgerKind): object => rows.find((row) => row.kind === kind)?.body ?? {};
    const row = rows.find(({ kind }) => kind === 'receipt');
    const predicate = { ...(row?.body['predicate'] as PredicateOf<'receipt'>), ...change };
    receipt = signPredicate('receipt', predicate, key);
    Object.assign(row?.body ?? {}, { predicate, envelope: receipt });
    const { state, reason, effect, planHash, stagingSha, fingerprint } = predicate;
    Object.assign(bodyOf('effect'), { state, effect });
    Object.assign(bodyOf('closed'), { state, reason });
    const settled = rows.find(({ kind }) => kind === 'decided');
    if (settled !== undefined && state === 'COMMITTED')
      Object.assign(settled, { kind: 'intent', body: { planHash, stagingSha, fingerprint } });
    else Object.assign(settled?.body ?? {}, { reason });
    return rows;
  });
  return { ...made, receipt };
}

/** Changes the body of each row of one kind; for `rechained`. */
export function withBody(kind: LedgerKind, change: (body: LedgerRow['body']) => object): (row: LedgerRow) => LedgerRow {
  return (row) => (row.kind === kind ? { ...row, body: change(row.body) as LedgerRow['body'] } : row);
}

/** Whether a row has a record of the judge. */
export function isJudgeRecord({ kind, body }: Pick<LedgerRow, 'kind' | 'body'>): boolean {
  const opened = kind === 'attested' ? openEnvelope('attested', body['envelope']) : null;
  return opened?.ok === true && opened.statement.predicate.kind === 'judge';
}
