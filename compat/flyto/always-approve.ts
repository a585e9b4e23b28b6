import { ALWAYS_APPROVE, alwaysApproveVerdict } from '../../policy/validators/always-approve';
import type { Validator } from '../../policy/validators/validator';

/** The explicit opt-out: approves every diff without reading it. Its name and reason say so; `why` is appended to the reason. */
export function alwaysApprove(why = ''): Validator {
  return Object.freeze({ name: () => ALWAYS_APPROVE, validate: () => Promise.resolve(alwaysApproveVerdict(why)) });
}
