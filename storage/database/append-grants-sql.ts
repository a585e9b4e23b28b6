/** The rights of roles to append ledger rows, as parts of SQL. */
import { APPEND_GRANTS, DECISIVE_CHECKS } from './roles';

/** Rows of role and kinds that it may append. */
export const kindsByRole = Object.entries(APPEND_GRANTS)
  .map(([role, kinds]) => `('${role}', ${textArray(kinds)})`)
  .join(', ');
/** Whether the caller is one of the roles. */
export const isMemberOf = (roles: readonly string[]): string =>
  roles.map((role) => `pg_has_role(session_user, '${role}', 'member')`).join(' or ');
/** Whether `c.check_name` is a check that only other roles make. */
export const isForeignCheck = Object.entries(DECISIVE_CHECKS)
  .map(([check, roles]) => `c.check_name = '${check}' and not (${isMemberOf(roles)})`)
  .join(' or ');
/** Kinds that several roles may append. */
export const sharedKinds = [...new Set(Object.values(APPEND_GRANTS).flat())].filter(
  (kind) => Object.values(APPEND_GRANTS).filter((kinds) => kinds.includes(kind)).length > 1,
);

export function textArray(texts: readonly string[]): string {
  return `array[${texts.map((text) => `'${text}'`).join(',')}]`;
}
