import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule } from './define-sql-rule';
import type { PrivilegeFact } from '../facts/sql-facts';

const DESCRIPTIONS: Readonly<Record<PrivilegeFact['what'], string>> = {
  grant: 'GRANT',
  grant_public: 'GRANT to PUBLIC',
  grant_option: 'GRANT with the right to grant it to others',
  revoke: 'REVOKE',
  role_ddl: 'CREATE, ALTER or DROP ROLE',
  role_escalation:
    'a role that bypasses access control (SUPERUSER, BYPASSRLS, REPLICATION, CREATEROLE, a superuser or a pg_ role)',
  default_privileges: 'ALTER DEFAULT PRIVILEGES',
  security_definer: 'SECURITY DEFINER',
  security_definer_no_search_path: 'SECURITY DEFINER without SET search_path',
  disable_rls: 'row level security is disabled',
  disable_trigger: 'a trigger or rule is disabled',
  replication_role: 'session_replication_role, which can disable triggers and foreign keys',
  set_role: 'SET ROLE or SESSION AUTHORIZATION',
  catalog_write: 'a write to the system catalog',
  row_policy: 'row level security or one of its policies',
  view_security: 'whose rights a view uses, or which functions see its hidden rows',
  security_label: 'SECURITY LABEL',
  leakproof: 'LEAKPROOF, which lets a function see rows that row level security hides',
  grant_parameter: 'GRANT of a setting of the server',
  publication: 'which rows are sent to servers that subscribe',
};

const ESCALATIONS = new Set<PrivilegeFact['what']>([
  'grant_public',
  'grant_option',
  'role_escalation',
  'security_definer_no_search_path',
  'disable_rls',
  'replication_role',
  'set_role',
  'catalog_write',
  'leakproof',
  'grant_parameter',
]);

const describe = (p: PrivilegeFact): string =>
  p.subject === '' ? DESCRIPTIONS[p.what] : `${DESCRIPTIONS[p.what]}: ${shown(p.subject)}`;

export const privilegeChange = defineSqlRule({
  name: 'sql_privilege_change',
  logicRevision: 6,
  defaultLevel: 'confirm',
  why: 'The change permanently modifies who can read or change data, or to which servers it is sent.',
  examples: { bad: 'GRANT SELECT ON orders TO reporting', good: "COMMENT ON TABLE orders IS 'GRANT ALL TO app'" },
  find: ({ privileges }) =>
    privileges.filter((p) => !ESCALATIONS.has(p.what)).map((p) => ({ at: p, what: describe(p) })),
});

export const privilegeEscalation = defineSqlRule({
  name: 'sql_privilege_escalation',
  logicRevision: 6,
  defaultLevel: 'forbid',
  why: 'The change grants rights that bypass access control, or runs with the rights of another role.',
  examples: { bad: 'ALTER ROLE app BYPASSRLS', good: 'ALTER ROLE app NOBYPASSRLS' },
  find: ({ privileges }) =>
    privileges.filter((p) => ESCALATIONS.has(p.what)).map((p) => ({ at: p, what: describe(p) })),
});
