import { attestedInputDigest, type AttestedKind, type AttestedPredicate } from '../../policy/contracts/attested';
import type { JsonValue } from '../../policy/contracts/canonical-json';
import { ValidatorResult } from '../../policy/contracts/finding';
import type { PlanValidator } from '../../policy/contracts/plan';
import { PolicyCallbackResult } from '../../policy/contracts/violation';
import type { StoredRow } from '../../policy/evidence/chain';
import type { KeySnapshot } from '../../policy/evidence/key-registry';
import { verifyWithRegistry } from '../../signing/registry-verify';
import { MAX_REASON_LENGTH } from '../../policy/contracts/limits';

/**
 * The attested records of one change, as the committer believes them.
 *
 * R1 A record counts only when an active attestor key signed it, for this change, input, plan, logic and staging record,
 *    over exactly the input that the committer recomputes.
 * R2 Where several records of one subject stand for one change, the strictest counts, whichever dry run each was made
 *    for: asking again never helps, neither does staging again in order to ask again.
 * R3 A record that does not count is as good as none; a missing record is an ERROR, hence a human. An ERROR never hides
 *    what another record says: both are then in the finding, which is none that anybody was shown.
 */
export interface ExpectedRecord {
  readonly kind: AttestedKind;
  readonly subject: string;
  readonly changeId: string;
  readonly inputSha: string;
  readonly planHash: string;
  readonly logicHash: string;
  readonly given: Given;
  /** The staging record that the result must be of. */
  readonly stagingSha: string | null;
}

type Given = { readonly [key: string]: JsonValue };

/** What is expected of a validator's records. `given` for each of them; null where it was given what it cannot have been. */
export interface ExpectedValidatorRecord extends Omit<ExpectedRecord, 'subject' | 'logicHash' | 'given'> {
  readonly given: (record: AttestedPredicate) => Given | null;
}

export class AttestedRecords {
  readonly #predicates: readonly AttestedPredicate[];

  constructor(rows: readonly StoredRow[], keys: KeySnapshot, development: boolean) {
    const expected = { keys: keys.find, keyKind: 'attestor', development } as const;
    this.#predicates = rows.flatMap(({ row }) => {
      if (row.kind !== 'attested') return [];
      const verified = verifyWithRegistry(row.body['envelope'], 'attested', expected);
      return verified.ok ? [verified.predicate] : [];
    });
  }

  /** The strictest result that a validator's records give; `missing` stands for the one that should be there. Null where there is none at all. */
  validator(
    validator: PlanValidator,
    expected: ExpectedValidatorRecord,
    missing: ValidatorResult,
  ): ValidatorResult | null {
    const ofAny = this.#predicates.filter((p) => {
      const { stagingSha } = p;
      const base = { ...expected, subject: validator.id, logicHash: validator.logic_hash, stagingSha };
      const given = isAbout(p, base) ? expected.given(p) : null;
      return given !== null && isOf(p, { ...base, given });
    });
    const results = ofAny.flatMap((p) => {
      const parsed = ValidatorResult.safeParse(p.result);
      return parsed.success && parsed.data.validator_id === validator.id
        ? [{ result: parsed.data, exact: p.stagingSha === expected.stagingSha }]
        : [];
    });
    if (results.length === 0) return null;
    return strictest([...results.map((r) => r.result), ...(results.some((r) => r.exact) ? [] : [missing])]);
  }

  callback(expected: ExpectedRecord): PolicyCallbackResult | null {
    const results = this.#predicates.flatMap((p) => {
      if (!isOf(p, expected)) return [];
      const parsed = PolicyCallbackResult.safeParse(p.result);
      return parsed.success ? [parsed.data] : [];
    });
    return results.find((r) => !r.passed) ?? results[0] ?? null;
  }
}

function isOf(p: AttestedPredicate, expected: ExpectedRecord): boolean {
  return isAbout(p, expected) && p.inputDigest === attestedInputDigest(expected.kind, expected.given);
}

function isAbout(p: AttestedPredicate, expected: Omit<ExpectedRecord, 'given'>): boolean {
  return (
    p.kind === expected.kind &&
    p.subject === expected.subject &&
    p.changeId === expected.changeId &&
    p.inputSha === expected.inputSha &&
    p.planHash === expected.planHash &&
    p.logicHash === expected.logicHash &&
    p.stagingSha === expected.stagingSha
  );
}

/**
 * The first of the worst. Where one says no and another could not answer, neither is the stricter one (a callback may
 * resolve a no, a plan may forbid on an error), so the result is both.
 */
function strictest(results: readonly ValidatorResult[]): ValidatorResult | null {
  const answered = results.filter((r) => r.errorClass === undefined);
  const error = results.find((r) => r.errorClass !== undefined);
  const worst = answered.reduce<ValidatorResult | null>((w, r) => (w === null || rank(r) > rank(w) ? r : w), null);
  if (error?.errorClass === undefined) return worst;
  if (worst === null || worst.status === 'ALLOW') return error;
  const reason = `${worst.reason}\n${error.reason}`;
  return {
    ...worst,
    status: 'BLOCK',
    reason: reason.length > MAX_REASON_LENGTH ? worst.reason : reason,
    reasonCode: 'records_differ',
    errorClass: error.errorClass,
    reproducible: true,
  };
}

function rank(result: ValidatorResult): number {
  switch (result.status) {
    case 'ALLOW':
      return 0;
    case 'WARN':
      return 1;
    case 'BLOCK':
      return 2;
    default:
      return result satisfies never;
  }
}
