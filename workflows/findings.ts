import type { Sha256 } from '../policy/contracts/hash';
import type { ReviewFinding, ReviewPlan } from '../policy/contracts/history-plan';
import {
  assembleAnswered,
  assembleFindings,
  COMPUTED_BY_ASSEMBLY,
  isHardBlock,
  type Assembly,
  type RawOutcome,
  type SkipReason,
} from '../policy/decide/findings';
import { fromReported, type Reported } from '../policy/decide/reported';
import type { Waiving } from '../policy/decide/waivers';

/**
 * What the validators of a review have found so far.
 *
 * `#outcomes` has one entry for each validator that answered or was skipped; findings are built from it. The built array is cached
 * until the next outcome, because every wait calls `decide` again and building is most of its cost.
 */
export class Findings {
  readonly #outcomes = new Map<string, RawOutcome>();
  /** Validators whose outcome comes from this workflow. The ledger has a row of all others. */
  readonly #unrecorded = new Set<string>();
  #tooManyViolations: number | null = null;
  /** Set by `complete` or `skipRest`: from then on the findings are as they will be disclosed. */
  #complete = false;
  #built: ReviewFinding[] | null = null;

  constructor(
    readonly plan: ReviewPlan,
    readonly changeId: Sha256,
    readonly waiving: Waiving,
  ) {}

  /** Records an outcome that the ledger may have no row of. */
  record(validatorId: string, outcome: RawOutcome): void {
    this.#unrecorded.add(validatorId);
    this.#set(validatorId, outcome);
  }

  /** Records results of which an activity has written rows. */
  recordReported(reported: Reported): void {
    for (const [id, result] of Object.entries(fromReported(this.plan, reported)))
      this.#set(id, { kind: 'result', result });
  }

  #set(validatorId: string, outcome: RawOutcome): void {
    this.#outcomes.set(validatorId, outcome);
    this.#built = null;
  }

  has(validatorId: string): boolean {
    return this.#outcomes.has(validatorId);
  }

  /** The outcomes that `disclose` cannot read from rows. */
  unrecorded(): Record<string, RawOutcome> {
    return Object.fromEntries([...this.#outcomes].filter(([id]) => this.#unrecorded.has(id)));
  }

  /** Marks every validator without an outcome as skipped, with this reason. */
  skipRest(reasonCode: SkipReason): void {
    this.complete();
    for (const { id } of this.plan.validators)
      if (!this.has(id) && !COMPUTED_BY_ASSEMBLY.has(id)) this.record(id, { kind: 'skipped', reasonCode });
  }

  /** Every preflight validator has run or was skipped. */
  complete(): void {
    this.#complete = true;
    this.#built = null;
  }

  /** More violations than a person can answer: the built-in validator reports it. */
  recordTooManyViolations(violations: number): void {
    this.#tooManyViolations = violations;
    this.#built = null;
  }

  #assembly(): Assembly {
    const { plan, changeId, waiving } = this;
    const tooMany = this.#tooManyViolations === null ? {} : { tooManyViolations: this.#tooManyViolations };
    return { plan, changeId, waiving, outcomes: this.#outcomes, ...tooMany };
  }

  /** All findings in declared order. A validator without an outcome counts as a contract violation. */
  all(): ReviewFinding[] {
    if (!this.#complete) return assembleFindings(this.#assembly());
    return (this.#built ??= assembleFindings(this.#assembly()));
  }

  /** Findings of the validators that have answered so far, for `status` and the preflight. */
  answered(): ReviewFinding[] {
    return this.#complete ? this.all() : (this.#built ??= assembleAnswered(this.#assembly()));
  }

  hasHardBlock(): boolean {
    return this.answered().some(isHardBlock);
  }

  /** What the next run of the workflow needs. */
  carry(): CarriedFindings {
    return { outcomes: [...this.#outcomes], tooManyViolations: this.#tooManyViolations };
  }

  restore({ outcomes, tooManyViolations }: CarriedFindings): void {
    for (const [id, outcome] of outcomes) this.record(id, outcome);
    this.#tooManyViolations = tooManyViolations ?? null;
    this.complete();
  }
}

export interface CarriedFindings {
  readonly outcomes: readonly (readonly [string, RawOutcome])[];
  readonly tooManyViolations: number | null;
}
