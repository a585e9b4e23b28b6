/**
 * The plan as a workflow knows it and its history contains it: everything that `decide` reads and what the Temporal UI shows, without the
 * settings of the validators, which are most of a plan. Those are in the signed policy: every activity and the committer compile the
 * plan of that hash themselves.
 */
import type { Plan, PlanValidator } from './plan';
import { isAggregate } from './readings';

/** `implementation` is empty except for limits over many changes. `config` has the model of a judge and nothing else. */
export type ReviewValidator = Pick<
  PlanValidator,
  'id' | 'class' | 'level' | 'phase' | 'kind' | 'unit' | 'implementation' | 'needsStaging' | 'config' | 'logic_hash'
>;

/** The members of a plan that its review uses. Every `Plan` is one. */
export interface ReviewPlan extends Omit<Plan, 'validators' | 'shadow'> {
  readonly validators: readonly ReviewValidator[];
}

type Traits = Omit<ReviewValidator, 'id' | 'logic_hash'>;

/** As in the history: each validator by id and hash, in declared order, with the position of its other members in `traits`. */
export interface HistoryPlan extends Omit<Plan, 'validators' | 'shadow'> {
  readonly traits: readonly Traits[];
  readonly validators: readonly (readonly [id: string, logicHash: string, traits: number])[];
}

export function toHistoryPlan({ validators, shadow: _shadow, ...plan }: Plan): HistoryPlan {
  const traits = new Map<string, { readonly place: number; readonly of: Traits }>();
  const listed = validators.map((validator) => {
    const of = traitsOf(validator);
    const key = JSON.stringify(of);
    const known = traits.get(key) ?? { place: traits.size, of };
    traits.set(key, known);
    return [validator.id, validator.logic_hash, known.place] as const;
  });
  return { ...plan, traits: [...traits.values()].map(({ of }) => of), validators: listed };
}

function traitsOf(validator: PlanValidator): Traits {
  const { class: hookClass, level, phase, kind, unit, implementation, needsStaging, config } = validator;
  const { model } = config;
  return {
    class: hookClass,
    level,
    phase,
    kind,
    unit,
    implementation: isAggregate(validator) ? implementation : '',
    needsStaging,
    config: kind === 'attested' && typeof model === 'string' ? { model } : {},
  };
}

/** Throws RangeError if a validator names traits that do not exist: anyone can complete an activity. */
export function fromHistoryPlan({ traits, validators, ...plan }: HistoryPlan): ReviewPlan {
  return {
    ...plan,
    validators: validators.map(([id, logic_hash, place]) => {
      const of = traits[place];
      if (of === undefined) throw new RangeError(`The plan has no traits ${place} for ${id}`);
      return { id, logic_hash, ...of };
    }),
  };
}
