/**
 * Sets up a PostgreSQL target: the marker table and two roles with the least privileges. Idempotent.
 *
 * T1 Neither role is a superuser, owns objects, can create roles or databases, or is a member of another role. An existing role
 *    with more privileges is refused; its privileges are never reduced.
 * T2 The stage role has no privileges on the marker table, so a dry run cannot write one. The commit role can insert, read, and set
 *    the effect once. Only the owner can delete.
 */
import { Client, escapeLiteral } from 'pg';
import { retryRoleConflicts } from '../../../storage/database/role-conflict';
import { quoteIdentifier } from './identifiers';
import { scramVerifier } from './scram';

interface InitTargetOptions {
  readonly stageRole: string;
  readonly commitRole: string;
  /** Null keeps the password of an existing role. */
  readonly passwords: { readonly stage: string | null; readonly commit: string | null };
  /** All their tables are granted, including tables that the administrator creates later. */
  readonly schemas: readonly string[];
}

/** Returns one display line for each step. Throws if a name is invalid, a role has too many privileges, or the administrator's role lacks a privilege. */
export async function initTarget(adminUrl: string, options: InitTargetOptions): Promise<readonly string[]> {
  const { stageRole, commitRole, schemas } = options;
  if (stageRole === commitRole) throw new TypeError('The stage role and the commit role must have different names');
  const client = new Client({
    connectionString: adminUrl,
    connectionTimeoutMillis: 10_000,
    application_name: 'countersign target init',
  });
  client.on('error', () => {}); // The query in flight fails with this error too.
  await client.connect();
  try {
    await retryRoleConflicts(client, () => grantAll(client, options));
  } finally {
    await client.end();
  }
  return [
    'marker table countersign.marker exists',
    `role ${stageRole} can only read and write the granted tables, for dry runs`,
    `role ${commitRole} can also write the marker table`,
    ...schemas.map((s) => `granted: all tables of schema ${s}`),
  ];
}

async function grantAll(
  client: Client,
  { stageRole, commitRole, passwords, schemas }: InitTargetOptions,
): Promise<void> {
  await client.query('BEGIN');
  // Concurrent runs in this database would fail on each other's schema and roles.
  await client.query(`SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('countersign target init'))`);
  await client.query(MARKER);
  await ensureRole(client, stageRole, passwords.stage);
  await ensureRole(client, commitRole, passwords.commit);
  const both = `${quoteIdentifier(stageRole)}, ${quoteIdentifier(commitRole)}`;
  const commit = quoteIdentifier(commitRole);
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
  await client.query(`GRANT CONNECT ON DATABASE ${quoteIdentifier(rows[0]?.name ?? '')} TO ${both}`);
  await client.query(`REVOKE ALL ON countersign.marker FROM ${both}`);
  await client.query(`GRANT USAGE ON SCHEMA countersign TO ${commit}`);
  await client.query(`GRANT INSERT (change_id), SELECT, UPDATE (effect) ON countersign.marker TO ${commit}`);
  for (const schema of schemas) {
    const name = quoteIdentifier(schema);
    await client.query(`GRANT USAGE ON SCHEMA ${name} TO ${both}`);
    await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${name} TO ${both}`);
    // USAGE allows nextval. UPDATE would also allow setval, which the rollback of a dry run does not undo.
    await client.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${name} TO ${both}`);
    await client.query(
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${name} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${both}`,
    );
    await client.query(`ALTER DEFAULT PRIVILEGES IN SCHEMA ${name} GRANT USAGE ON SEQUENCES TO ${both}`);
  }
  await client.query('COMMIT');
}

const MARKER = `
CREATE SCHEMA IF NOT EXISTS countersign;
REVOKE ALL ON SCHEMA countersign FROM PUBLIC;
CREATE TABLE IF NOT EXISTS countersign.marker (
  change_id text PRIMARY KEY,
  effect jsonb,
  at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
REVOKE ALL ON countersign.marker FROM PUBLIC;
CREATE OR REPLACE FUNCTION countersign.effect_once() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF OLD.effect IS NOT NULL OR NEW.change_id <> OLD.change_id THEN
    RAISE EXCEPTION 'the effect of a change is written once' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER effect_once BEFORE UPDATE ON countersign.marker
  FOR EACH ROW EXECUTE FUNCTION countersign.effect_once();
`;

/** $1: name. Temporary tables belong to a session that runs now. */
const EXISTING_ROLE = `
SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS privileged,
  EXISTS (SELECT FROM pg_catalog.pg_auth_members m WHERE m.member = r.oid) AS member,
  EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relowner = r.oid AND c.relpersistence <> 't')
    OR EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.proowner = r.oid)
    OR EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.nspowner = r.oid)
    OR EXISTS (SELECT FROM pg_catalog.pg_database d WHERE d.datdba = r.oid) AS owner
FROM pg_catalog.pg_roles r WHERE rolname = $1`;

interface ExistingRole {
  readonly privileged: boolean;
  readonly member: boolean;
  readonly owner: boolean;
}

function problemOf({ privileged, member, owner }: ExistingRole): string | null {
  if (privileged) return 'superuser or a similar attribute';
  if (member) return 'member of another role';
  return owner ? 'owner of objects in this database' : null;
}

async function ensureRole(client: Client, role: string, password: string | null): Promise<void> {
  const { rows } = await client.query<ExistingRole>(EXISTING_ROLE, [role]);
  const [found] = rows;
  const problem = found === undefined ? null : problemOf(found);
  if (problem !== null)
    throw new Error(`Role "${role}" exists and has too many privileges (${problem}); choose another name`);
  const name = quoteIdentifier(role);
  if (found === undefined)
    await client.query(`CREATE ROLE ${name} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS`);
  if (password !== null)
    await client.query(`ALTER ROLE ${name} LOGIN PASSWORD ${escapeLiteral(scramVerifier(password))}`);
}
