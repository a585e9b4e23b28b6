/**
 * The part of a plan that workflows and their histories contain: what `decide` reads and what the Temporal UI shows. It excludes the
 * settings and hashes of the validators, which are most of a plan. Activities and the committer compile the complete plan from the
 * signed policy.
 */
import type { ValidatorFinding } from './finding';
import type { Plan, PlanValidator } from './plan';
import { isAggregate } from './readings';

/**
 * `implementation` is empty except for limits over many changes. `config` has only the model of a judge. Only a validator of a complete
 * plan has its `logic_hash`.
 */
export type ReviewValidator = Pick<
  PlanValidator,
  'id' | 'class' | 'level' | 'phase' | 'kind' | 'unit' | 'implementation' | 'needsStaging' | 'config'
> &
  Partial<Pick<PlanValidator, 'logic_hash'>>;

/** A finding as the workflow has it. Only a finding under a complete plan has the hash of its validator. */
export type ReviewFinding = Omit<ValidatorFinding, 'logic_hash'> & Partial<Pick<ValidatorFinding, 'logic_hash'>>;

/** The members of a plan that its review uses. Every `Plan` is one. */
export interface ReviewPlan extends Omit<Plan, 'validators' | 'shadow'> {
  readonly validators: readonly ReviewValidator[];
}

type Traits = Omit<ReviewValidator, 'id' | 'logic_hash'>;

/** Values that most validators have. A history omits them. */
const USUAL = { phase: 'preflight', kind: 'derived', implementation: '', needsStaging: false, config: {} } as const;

type HistoryTraits = Omit<Traits, keyof typeof USUAL> & Partial<Pick<Traits, keyof typeof USUAL>>;

/** As in the history: each validator by id, in declared order, with the position of its other members in `traits`. */
export interface HistoryPlan extends Omit<Plan, 'validators' | 'shadow'> {
  readonly traits: readonly HistoryTraits[];
  readonly validators: readonly (readonly [id: string, traits: number])[];
}

export function toHistoryPlan({ validators, shadow: _shadow, ...plan }: Plan): HistoryPlan {
  const traits = new Map<string, { readonly place: number; readonly of: HistoryTraits }>();
  const listed = validators.map((validator) => {
    const of = traitsOf(validator);
    const key = JSON.stringify(of);
    const known = traits.get(key) ?? { place: traits.size, of };
    traits.set(key, known);
    return [validator.id, known.place] as const;
  });
  return { ...plan, traits: [...traits.values()].map(({ of }) => of), validators: listed };
}

function traitsOf(validator: PlanValidator): HistoryTraits {
  const { class: hookClass, level, phase, kind, unit, implementation, needsStaging, config } = validator;
  const { model } = config;
  return {
    class: hookClass,
    level,
    unit,
    ...(phase === USUAL.phase ? {} : { phase }),
    ...(kind === USUAL.kind ? {} : { kind }),
    ...(isAggregate(validator) ? { implementation } : {}),
    ...(needsStaging ? { needsStaging } : {}),
    ...(kind === 'attested' && typeof model === 'string' ? { config: { model } } : {}),
  };
}

/** Throws RangeError if a validator names traits that do not exist: anyone can complete an activity. */
export function fromHistoryPlan({ traits, validators, ...plan }: HistoryPlan): ReviewPlan {
  return {
    ...plan,
    validators: validators.map(([id, place]) => {
      const of = traits[place];
      if (of === undefined) throw new RangeError(`The plan has no traits ${place} for ${id}`);
      return { id, ...USUAL, ...of };
    }),
  };
}
