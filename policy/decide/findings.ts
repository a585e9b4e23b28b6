import type { Sha256 } from '../contracts/hash';
import { typedHash } from '../contracts/hash';
import { canonicalJsonOrNull } from '../contracts/canonical-json';
import { ValidatorResult, type ErrorClass, type ValidatorFinding } from '../contracts/finding';
import { fieldIssues, issuesText } from '../contracts/issues';
import type { ReviewFinding, ReviewPlan, ReviewValidator } from '../contracts/history-plan';
import type { Plan } from '../contracts/plan';
import { WAIVERS, waiveFindings, type Waiving } from './waivers';
import { MAX_REASON_LENGTH } from '../contracts/limits';
import { cutWellFormed } from '../text/cut-text';

/**
 * Assembles the preflight part of `validatorFindings`. Pure: workflow, committer and `verify` must get the same array.
 *
 * A1 One entry for each validator of the plan, in declared order, regardless of which finished first.
 * A2 Phase, class and logic_hash come from the plan, never from the result. Without hashes in the plan, findings have none either.
 * A3 A result that breaks the contract becomes a BLOCK, and `safety.contract_violation` blocks as well. It is never dropped or
 *    allowed.
 * A4 A validator that did not run is SKIPPED, never ALLOW.
 */

/** The raw result of one validator, or why it did not run. */
export type RawOutcome =
  { readonly kind: 'result'; readonly result: unknown } | { readonly kind: 'skipped'; readonly reasonCode: SkipReason };

/**
 * `static_block`: a static guardian already decided the review. `staged_block`: the dry run or a guardian after it did. `judge_when`: the
 * plan does not run the judge here.
 */
export type SkipReason = 'static_block' | 'staged_block' | 'judge_when' | 'withdrawn';

export const CONTRACT_VIOLATION = 'safety.contract_violation';
export const TOO_MANY_VIOLATIONS = 'safety.too_many_violations';
/** Validators whose findings the assembly computes. */
export const COMPUTED_BY_ASSEMBLY: ReadonlySet<string> = new Set([CONTRACT_VIOLATION, TOO_MANY_VIOLATIONS, WAIVERS]);

export interface Assembly<P extends ReviewPlan = ReviewPlan> {
  readonly plan: P;
  readonly changeId: Sha256;
  readonly outcomes: ReadonlyMap<string, RawOutcome>;
  /** Set after violations were counted, if there are too many; otherwise `safety.too_many_violations` is ALLOW. */
  readonly tooManyViolations?: number;
  /** If absent or null, no waiver applies. */
  readonly waiving?: Waiving | null;
}

/**
 * Provisional findings while the review runs: those of validators that have answered, and `safety.contract_violation` if it
 * fires. Disclosure, hashing and decision use `assembleFindings`.
 */
export function assembleAnswered(assembly: Assembly<Plan>): ValidatorFinding[];
export function assembleAnswered(assembly: Assembly): ReviewFinding[];
export function assembleAnswered(assembly: Assembly): ReviewFinding[] {
  const answered = assembly.plan.validators.filter(
    (v) => assembly.outcomes.has(v.id) || COMPUTED_BY_ASSEMBLY.has(v.id),
  );
  const findings = assembleFindings({ ...assembly, plan: { ...assembly.plan, validators: answered } });
  return findings.filter((f) => assembly.outcomes.has(f.validator_id) || f.status === 'BLOCK');
}

export function assembleFindings(assembly: Assembly<Plan>): ValidatorFinding[];
export function assembleFindings(assembly: Assembly): ReviewFinding[];
export function assembleFindings(assembly: Assembly): ReviewFinding[] {
  const breaches: string[] = [];
  const findings = assembly.plan.validators.map((validator) =>
    COMPUTED_BY_ASSEMBLY.has(validator.id) ? null : toFinding(validator, assembly.outcomes.get(validator.id), breaches),
  );
  const all = assembly.plan.validators.map(
    (validator, i) => findings[i] ?? computedFinding(validator, assembly, breaches),
  );
  return waiveFindings(assembly.plan, assembly.changeId, all, assembly.waiving ?? null);
}

/** One finding by A2–A4. Appends a description to `breaches` if the result breaks the contract. */
function toFinding(validator: ReviewValidator, outcome: RawOutcome | undefined, breaches: string[]): ReviewFinding {
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
  const { parsed, breach } = readMemoized(validator, outcome.result);
  if (breach !== null) breaches.push(`${validator.id}: ${breach}`);
  return parsed;
}

interface ReadResult {
  readonly validator: ReviewValidator;
  readonly parsed: ReviewFinding;
  /** How the result breaks the contract; null if it does not. */
  readonly breach: string | null;
}

/** Memoized because findings are assembled several times from the same results. Results are immutable. */
const readResults = new WeakMap<object, ReadResult>();

function readMemoized(validator: ReviewValidator, result: unknown): ReadResult {
  if (typeof result !== 'object' || result === null) return { validator, ...readResult(validator, result) };
  const known = readResults.get(result);
  if (known?.validator === validator) return known;
  const read = { validator, ...readResult(validator, result) };
  readResults.set(result, read);
  return read;
}

function readResult(validator: ReviewValidator, result: unknown): Omit<ReadResult, 'validator'> {
  const sent = throughJson(result);
  const parsed = ValidatorResult.safeParse(sent);
  const breach = parsed.success
    ? breachOf(validator, parsed.data)
    : issuesText(fieldIssues(parsed.error, sent, 'result'));
  if (breach !== null || !parsed.success) {
    const broken = finding(validator, {
      status: 'BLOCK',
      reason: cutWellFormed(`Broke the validator contract: ${breach ?? ''}`, MAX_REASON_LENGTH),
      reasonCode: 'contract_violation',
      evidenceRefs: [],
    });
    return { parsed: broken, breach: breach ?? 'unreadable result' };
  }
  const { validator_id: _id, ...fields } = parsed.data;
  // A rule at level `advise` never requires an answer, so its BLOCK becomes WARN.
  const status = validator.level === 'advise' && fields.status === 'BLOCK' ? 'WARN' : fields.status;
  return { parsed: finding(validator, { ...fields, status }), breach };
}

function breachOf(validator: ReviewValidator, result: ValidatorResult): string | null {
  if (result.validator_id !== validator.id)
    return `validator_id: expected "${validator.id}", got "${result.validator_id}"`;
  if (result.status !== 'ALLOW' && result.evidenceRefs.some((ref) => ref.trim() === ''))
    return 'evidenceRefs: expected references that are not empty';
  // A recorded finding is read as a result again, and at level `advise` its BLOCK was lowered already.
  const lowered = validator.level === 'advise' && result.status === 'WARN';
  if (result.errorClass !== undefined && result.status !== 'BLOCK' && !lowered)
    return `errorClass: expected status BLOCK for an error, got ${result.status}`;
  // A finding that cannot be hashed could not be disclosed or answered.
  return canonicalJsonOrNull(result) === null
    ? 'result: expected well-formed text and bounded nesting, so that it can be hashed'
    : null;
}

/**
 * Converts the result to what Temporal's JSON payloads preserve: undefined members are dropped, NaN becomes null. The committer
 * calls the validator in process and must see the same result as the workflow.
 */
function throughJson(result: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(result) ?? 'null');
  } catch (error) {
    // A cycle, a bigint, or too many levels. The schema refuses null.
    if (error instanceof TypeError || error instanceof RangeError) return null;
    throw error;
  }
}

function computedFinding(validator: ReviewValidator, assembly: Assembly, breaches: readonly string[]): ReviewFinding {
  const evidenceRefs = [`review:${assembly.changeId}`];
  if (validator.id === CONTRACT_VIOLATION && breaches.length > 0) {
    return finding(validator, {
      status: 'BLOCK',
      reason: cutWellFormed(breaches.join('\n'), MAX_REASON_LENGTH),
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
  validator: ReviewValidator,
  fields: Omit<ValidatorFinding, 'validator_id' | 'phase' | 'class' | 'logic_hash'>,
): ReviewFinding {
  const { id, phase, class: hookClass, logic_hash } = validator;
  const of = { ...fields, validator_id: id, phase, class: hookClass };
  return logic_hash === undefined ? of : { ...of, logic_hash };
}

function skipText(reason: SkipReason): string {
  switch (reason) {
    case 'static_block':
      return 'Not run: a static guardian had already forbidden the change';
    case 'staged_block':
      return 'Not run: the dry run or a guardian after it had already stopped the change';
    case 'judge_when':
      return 'Not run: the plan asks the judge only when the rules are clean';
    case 'withdrawn':
      return 'Not run: the change was withdrawn';
    default:
      return reason satisfies never;
  }
}

/** The result of a validator that could not answer: a BLOCK with `errorClass`, which only a person can resolve. */
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

/**
 * The result of a validator whose activity failed. The text is fixed, because the workflow creates this result and no row of a worker
 * confirms it: people must not be shown text that a workflow chose.
 */
export function validatorFailedResult(
  validatorId: string,
  changeId: Sha256,
  errorClass: 'ErrUnknownDiffType' | 'ErrValidatorBackend',
): ValidatorResult {
  return errorResult(validatorId, changeId, {
    errorClass,
    reason: 'The validator could not answer. The history of the workflow has the error',
    reasonCode: 'validator_failed',
    reproducible: false,
  });
}

export function findingsSha(findings: readonly ValidatorFinding[]): Sha256 {
  return typedHash('findings', { validatorFindings: findings });
}

/** A SAFETY BLOCK ends the review immediately, without asking anyone. Only class and status count, not the validator id. */
export function isHardBlock(f: Pick<ValidatorFinding, 'class' | 'status'>): boolean {
  return f.class === 'SAFETY' && f.status === 'BLOCK';
}
