import type { Sha256 } from '../contracts/hash';
import { typedHash } from '../contracts/hash';
import { canonicalJson, toWellFormed } from '../contracts/canonical-json';
import { ValidatorResult, type ErrorClass, type ValidatorFinding } from '../contracts/finding';
import { fieldIssues, issuesText } from '../contracts/issues';
import type { Plan, PlanValidator } from '../contracts/plan';
import { WAIVERS, waiveFindings, type Waiving } from './waivers';
import { MAX_REASON_LENGTH } from '../contracts/limits';
import { cutText } from '../text/cut-text';

/**
 * The preflight part of `validatorFindings` (records.md §3). Pure: the workflow, the committer and `verify` build it alike.
 *
 * A1 One entry for each validator of the plan, in declared order, whoever finished first (T29).
 * A2 Phase, class and logic_hash come from the plan, never from the result (G8, G11, T30).
 * A3 A result that breaks the contract becomes a BLOCK of `safety.contract_violation`: neither dropped nor allowed (T32, C11).
 * A4 A validator that did not run is SKIPPED, which is never ALLOW (T45).
 */

/** What came back for one validator: its raw result, or why there is none. */
export type RawOutcome =
  { readonly kind: 'result'; readonly result: unknown } | { readonly kind: 'skipped'; readonly reasonCode: SkipReason };

/** `static_block`, `staged_block`: something harder already decided. `judge_when`: the plan says so. */
export type SkipReason = 'static_block' | 'staged_block' | 'judge_when' | 'withdrawn';

export const CONTRACT_VIOLATION = 'safety.contract_violation';
export const TOO_MANY_VIOLATIONS = 'safety.too_many_violations';
/** Validators whose finding the assembly itself makes. */
export const FILLED_HERE: ReadonlySet<string> = new Set([CONTRACT_VIOLATION, TOO_MANY_VIOLATIONS, WAIVERS]);

export interface Assembly {
  readonly plan: Plan;
  readonly changeId: Sha256;
  readonly outcomes: ReadonlyMap<string, RawOutcome>;
  /** Set once violations were counted; before that `safety.too_many_violations` is ALLOW. */
  readonly tooManyViolations?: number;
  /** Absent where nothing is known of the review, as in reviews opened before there were waivers: then none applies. */
  readonly waiving?: Waiving | null;
}

/**
 * While the review runs: the findings of those that have answered, and `safety.contract_violation` once it fires.
 * Provisional; what is disclosed, hashed and decided is `assembleFindings`.
 */
export function assembleAnswered(assembly: Assembly): ValidatorFinding[] {
  const answered = assembly.plan.validators.filter((v) => assembly.outcomes.has(v.id) || FILLED_HERE.has(v.id));
  const findings = assembleFindings({ ...assembly, plan: { ...assembly.plan, validators: answered } });
  return findings.filter((f) => assembly.outcomes.has(f.validator_id) || f.status === 'BLOCK');
}

export function assembleFindings(assembly: Assembly): ValidatorFinding[] {
  const breaches: string[] = [];
  const findings = assembly.plan.validators.map((validator) =>
    FILLED_HERE.has(validator.id) ? null : toFinding(validator, assembly.outcomes.get(validator.id), breaches),
  );
  const all = assembly.plan.validators.map((validator, i) => findings[i] ?? filledHere(validator, assembly, breaches));
  return waiveFindings(assembly.plan, assembly.changeId, all, assembly.waiving ?? null);
}

/** One finding by A2–A4; what breaks the contract is described into `breaches`. */
function toFinding(validator: PlanValidator, outcome: RawOutcome | undefined, breaches: string[]): ValidatorFinding {
  if (outcome === undefined) {
    breaches.push(`${validator.id}: no result`);
    return finding(validator, {
      status: 'BLOCK',
      reason: 'The validator gave no result',
      reasonCode: 'no_result',
      evidenceRefs: [],
    });
  }
  if (outcome.kind === 'skipped') {
    return finding(validator, {
      status: 'SKIPPED',
      reason: skipText(outcome.reasonCode),
      reasonCode: outcome.reasonCode,
      evidenceRefs: [],
    });
  }
  const { made, breach } = readOnce(validator, outcome);
  if (breach !== null) breaches.push(`${validator.id}: ${breach}`);
  return made;
}

interface ReadOutcome {
  readonly validator: PlanValidator;
  readonly made: ValidatorFinding;
  /** How the result breaks the contract; null where it does not. */
  readonly breach: string | null;
}

/** An outcome is never changed once it is there, and the array is built anew whenever one comes in. */
const outcomesRead = new WeakMap<RawOutcome, ReadOutcome>();

function readOnce(validator: PlanValidator, outcome: RawOutcome & { readonly kind: 'result' }): ReadOutcome {
  const known = outcomesRead.get(outcome);
  if (known?.validator === validator) return known;
  const made = { validator, ...readOutcome(validator, outcome.result) };
  outcomesRead.set(outcome, made);
  return made;
}

function readOutcome(validator: PlanValidator, result: unknown): Omit<ReadOutcome, 'validator'> {
  const sent = throughJson(result);
  const parsed = ValidatorResult.safeParse(sent);
  const breach = parsed.success
    ? breachOf(validator, parsed.data)
    : issuesText(fieldIssues(parsed.error, sent, 'result'));
  if (breach !== null || !parsed.success) {
    const broken = finding(validator, {
      status: 'BLOCK',
      reason: cut(`Broke the validator contract: ${breach ?? ''}`),
      reasonCode: 'contract_violation',
      evidenceRefs: [],
    });
    return { made: broken, breach: breach ?? 'unreadable result' };
  }
  const { validator_id: _id, ...fields } = parsed.data;
  // An advising rule is shown and sampled; nobody waits for it (DESIGN §4).
  const status = validator.level === 'advise' && fields.status === 'BLOCK' ? 'WARN' : fields.status;
  return { made: finding(validator, { ...fields, status }), breach };
}

function breachOf(validator: PlanValidator, result: ValidatorResult): string | null {
  if (result.validator_id !== validator.id)
    return `validator_id: expected "${validator.id}", got "${result.validator_id}"`;
  if (result.status !== 'ALLOW' && result.evidenceRefs.some((ref) => ref.trim() === ''))
    return 'evidenceRefs: an empty reference is no evidence';
  if (result.errorClass !== undefined && result.status !== 'BLOCK') return 'errorClass: an error is a BLOCK';
  return hashable(result) ? null : 'result: holds text that is not well-formed, or values nested too deep';
}

/**
 * The result as a history hands it over, where an undefined member has vanished and NaN is null: the committer, which calls
 * the validator in its own process, must read what the workflow read.
 */
function throughJson(result: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(result) ?? 'null');
  } catch (error) {
    if (error instanceof TypeError) return null; // A cycle or a bigint: no result, by the schema.
    throw error;
  }
}

/** What cannot be hashed can be neither disclosed nor answered. */
function hashable(result: ValidatorResult): boolean {
  try {
    canonicalJson(result);
    return true;
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return false;
    throw error;
  }
}

/** At most as long as a reason may be, and well-formed: what quotes a validator's broken text must itself be hashable. */
function cut(text: string): string {
  return toWellFormed(cutText(text, MAX_REASON_LENGTH));
}

function filledHere(validator: PlanValidator, assembly: Assembly, breaches: readonly string[]): ValidatorFinding {
  const evidenceRefs = [`review:${assembly.changeId}`];
  if (validator.id === CONTRACT_VIOLATION && breaches.length > 0) {
    return finding(validator, {
      status: 'BLOCK',
      reason: cut(breaches.join('\n')),
      reasonCode: 'contract_violation',
      evidenceRefs,
    });
  }
  if (validator.id === TOO_MANY_VIOLATIONS && assembly.tooManyViolations !== undefined) {
    return finding(validator, {
      status: 'BLOCK',
      reason: `${assembly.tooManyViolations} violations are more than a person can answer one by one; split the change`,
      reasonCode: 'too_many_violations',
      evidenceRefs,
    });
  }
  return finding(validator, { status: 'ALLOW', reason: '', evidenceRefs: [] });
}

function finding(
  validator: PlanValidator,
  fields: Omit<ValidatorFinding, 'validator_id' | 'phase' | 'class' | 'logic_hash'>,
): ValidatorFinding {
  return {
    ...fields,
    validator_id: validator.id,
    phase: validator.phase,
    class: validator.class,
    logic_hash: validator.logic_hash,
  };
}

function skipText(reason: SkipReason): string {
  switch (reason) {
    case 'static_block':
      return 'Not run: a static guardian had already forbidden the change';
    case 'staged_block':
      return 'Not run: a guardian had forbidden the change after the dry run';
    case 'judge_when':
      return 'Not run: the plan asks the judge only when the rules are clean';
    case 'withdrawn':
      return 'Not run: the change was withdrawn';
    default:
      return reason satisfies never;
  }
}

/** The result of a validator that could not answer (C11, C17): a BLOCK with `errorClass`, which only a human resolves. */
export function errorResult(
  validatorId: string,
  changeId: Sha256,
  error: {
    readonly errorClass: ErrorClass;
    readonly reason: string;
    readonly reasonCode: string;
    readonly reproducible: boolean;
  },
): ValidatorResult {
  return { validator_id: validatorId, status: 'BLOCK', evidenceRefs: [`review:${changeId}`], ...error };
}

export function findingsSha(findings: readonly ValidatorFinding[]): Sha256 {
  return typedHash('findings', { validatorFindings: findings });
}

/** SAFETY BLOCK: ends the review where it stands, nobody asked (DESIGN §3.2). Routing reads the class only (G36). */
export function isHardBlock(f: Pick<ValidatorFinding, 'class' | 'status'>): boolean {
  return f.class === 'SAFETY' && f.status === 'BLOCK';
}
