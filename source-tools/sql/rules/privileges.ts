import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule, noConfig } from './define-sql-rule';
import type { PrivilegeFact } from '../facts/sql-facts';

const SAID: Readonly<Record<PrivilegeFact['what'], string>> = {
  grant: 'GRANT',
  grant_public: 'GRANT to PUBLIC',
  grant_option: 'GRANT with the right to grant it on',
  revoke: 'REVOKE',
  role_ddl: 'CREATE, ALTER or DROP ROLE',
  role_escalation: 'a role that passes every check (SUPERUSER, BYPASSRLS, REPLICATION or a pg_ role)',
  default_privileges: 'ALTER DEFAULT PRIVILEGES',
  security_definer: 'SECURITY DEFINER',
  security_definer_no_search_path: 'SECURITY DEFINER without its own search_path',
  disable_rls: 'row level security switched off',
  disable_trigger: 'a trigger or rule switched off',
  replication_role: 'session_replication_role, which switches off triggers and foreign keys',
  set_role: 'SET ROLE or SESSION AUTHORIZATION',
  catalog_write: 'a write to the system catalog',
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
]);

const said = (p: PrivilegeFact): string => (p.subject === '' ? SAID[p.what] : `${SAID[p.what]}: ${shown(p.subject)}`);

export const privilegeChange = defineSqlRule({
  name: 'sql_privilege_change',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'Who may do what changes, for longer than this change lasts.',
  config: noConfig,
  examples: { bad: 'GRANT SELECT ON orders TO reporting', good: "COMMENT ON TABLE orders IS 'GRANT ALL TO app'" },
  find: ({ privileges }) => privileges.filter((p) => !ESCALATIONS.has(p.what)).map((p) => ({ at: p, what: said(p) })),
});

export const privilegeEscalation = defineSqlRule({
  name: 'sql_privilege_escalation',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'A right is given that lifts the other guards, or the text runs with somebody else’s rights.',
  config: noConfig,
  examples: { bad: 'ALTER ROLE app BYPASSRLS', good: 'ALTER ROLE app NOBYPASSRLS' },
  find: ({ privileges }) => privileges.filter((p) => ESCALATIONS.has(p.what)).map((p) => ({ at: p, what: said(p) })),
});
