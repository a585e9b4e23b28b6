import type { Plan } from '../../policy/contracts/plan';
import { isApprover, mayUse, type KeyRegistry, type RegisteredKey } from '../../policy/evidence/key-registry';
import { CLOCK_SKEW_MS } from '../../signing/assess-answer';
import type { Disclosed } from '../review-types';

/** Bounded, because it is recorded in the history of the workflow. */
const MAX_KEY_OWNERS = 200;

export type Answerers = Pick<Disclosed, 'reachable' | 'keyOwners'>;

/** Members of all groups who can answer now in the tenant. */
export async function whoCanAnswer(keys: KeyRegistry, plan: Plan, tenant: string): Promise<Answerers> {
  const usable = (await keys.activeKeysOf(membersOf(plan))).filter((key) => mayAnswer(key, plan, tenant));
  return {
    reachable: answerersOf(plan, usable),
    keyOwners: Object.fromEntries(usable.slice(0, MAX_KEY_OWNERS).map((key) => [key.keyId, key.subject.id])),
  };
}

/** Whether the entry of a key lets it answer. Does not look at revocations. */
function mayAnswer(key: RegisteredKey, plan: Plan, tenant: string): boolean {
  return isApprover(key) && mayUse(key, { right: 'answer', tenant }) && (plan.development || !key.demo);
}

/** The owners of these keys, or, if answers are unsigned, every member of a group. */
function answerersOf(plan: Plan, usable: readonly RegisteredKey[]): string[] {
  return plan.answers === 'unsigned' ? membersOf(plan) : [...new Set(usable.map((key) => key.subject.id))];
}

/**
 * Members of all groups who could answer at `at`, ISO 8601. Not those whose only key was registered in the minute before, or revoked in the
 * minute after: the disclosure reads a registry that may be a second old, a key is dated before it is stored, and a revocation counts from
 * when it is stored, whatever its date.
 */
export async function whoCouldAnswer(keys: KeyRegistry, plan: Plan, tenant: string, at: string): Promise<string[]> {
  const members = membersOf(plan);
  const usable = (await keys.list()).filter(
    (key) =>
      members.includes(key.subject.id) &&
      mayAnswer(key, plan, tenant) &&
      Date.parse(key.addedAt) + CLOCK_SKEW_MS <= Date.parse(at) &&
      (key.revokedAt === null || Date.parse(key.revokedAt) - CLOCK_SKEW_MS >= Date.parse(at)),
  );
  return answerersOf(plan, usable);
}

function membersOf(plan: Plan): string[] {
  return [...new Set(Object.values(plan.groups).flatMap((g) => g.members))];
}
