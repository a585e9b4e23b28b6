/**
 * Sets up a PostgreSQL target: the marker table, and two roles with the least rights that do. Idempotent.
 *
 * T1 Neither role is a superuser, owns anything, may create roles or databases, or belongs to another role; a role of that
 *    name that is more is refused, never lowered.
 * T2 The stage role has no right on the marker: a dry run cannot take one. The commit role inserts, reads, and sets the
 *    effect once; nobody but the owner deletes.
 */
import { Client, escapeLiteral } from 'pg';
import { quoteIdentifier, quoteRelation } from './identifiers';
import { scramVerifier } from './scram';

export interface TargetGrants {
  /** All tables in these schemas, those that the administrator makes later too. */
  readonly schemas?: readonly string[];
  /** Single tables as `schema.table`. */
  readonly tables?: readonly string[];
}

export interface InitTargetOptions {
  readonly stageRole?: string;
  readonly commitRole?: string;
  readonly passwords: { readonly stage: string; readonly commit: string };
  readonly grants: TargetGrants;
}

/** Returns what was done, one line each, for people. Throws with what to do where the administrator's role or a name does not fit. */
export async function initTarget(adminUrl: string, options: InitTargetOptions): Promise<readonly string[]> {
  const { stageRole = 'countersign_stage', commitRole = 'countersign_commit', passwords, grants } = options;
  if (stageRole === commitRole) throw new TypeError('Stage and commit role: expected two names, got one');
  const tables = (grants.tables ?? []).map(toRelation);
  const schemas = [...new Set([...(grants.schemas ?? []), ...tables.map((t) => t.schema)])];
  const client = new Client({
    connectionString: adminUrl,
    connectionTimeoutMillis: 10_000,
    application_name: 'countersign target init',
  });
  await client.connect();
  try {
    await client.query('BEGIN');
    // Two of these at once would fail on each other's roles.
    await client.query(`SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('countersign target init'))`);
    await client.query(MARKER);
    for (const [role, password] of [
      [stageRole, passwords.stage],
      [commitRole, passwords.commit],
    ] as const)
      await makeRole(client, role, password);
    const both = `${quoteIdentifier(stageRole)}, ${quoteIdentifier(commitRole)}`;
    const commit = quoteIdentifier(commitRole);
    await client.query(
      `GRANT CONNECT ON DATABASE ${quoteIdentifier((await client.query<{ d: string }>('SELECT current_database() AS d')).rows[0]?.d ?? '')} TO ${both}`,
    );
    await client.query(`REVOKE ALL ON countersign.marker FROM ${both}`);
    await client.query(`GRANT USAGE ON SCHEMA countersign TO ${commit}`);
    await client.query(`GRANT INSERT (change_id), SELECT, UPDATE (effect) ON countersign.marker TO ${commit}`);
    for (const schema of schemas) await client.query(`GRANT USAGE ON SCHEMA ${quoteIdentifier(schema)} TO ${both}`);
    for (const schema of grants.schemas ?? []) {
      const name = quoteIdentifier(schema);
      await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${name} TO ${both}`);
      // USAGE, not UPDATE: nextval yes, setval no, since a rolled-back dry run would not undo it.
      await client.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${name} TO ${both}`);
      await client.query(
        `ALTER DEFAULT PRIVILEGES IN SCHEMA ${name} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${both}`,
      );
      await client.query(`ALTER DEFAULT PRIVILEGES IN SCHEMA ${name} GRANT USAGE ON SEQUENCES TO ${both}`);
    }
    for (const table of tables) {
      await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE ${quoteRelation(table)} TO ${both}`);
      for (const sequence of await ownedSequences(client, quoteRelation(table)))
        await client.query(`GRANT USAGE ON SEQUENCE ${quoteRelation(sequence)} TO ${both}`);
    }
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
  return [
    'marker table countersign.marker is there',
    `role ${stageRole} may read and write what is granted, so that a dry run works, and nothing else`,
    `role ${commitRole} may do the same and take the marker`,
    ...(grants.schemas ?? []).map((s) => `granted: all tables of schema ${s}`),
    ...(grants.tables ?? []).map((t) => `granted: ${t}`),
  ];
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

async function makeRole(client: Client, role: string, password: string): Promise<void> {
  const { rows } = await client.query<{ more: boolean; member: boolean }>(
    `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS more,
            EXISTS (SELECT FROM pg_catalog.pg_auth_members m WHERE m.member = r.oid) AS member
     FROM pg_catalog.pg_roles r WHERE rolname = $1`,
    [role],
  );
  const [found] = rows;
  if (found?.more === true || found?.member === true) {
    throw new Error(
      `Role "${role}" exists and may do more than a role of ours should (${found.more ? 'superuser or the like' : 'member of another role'}); choose another name`,
    );
  }
  const name = quoteIdentifier(role);
  if (found === undefined)
    await client.query(`CREATE ROLE ${name} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS`);
  await client.query(`ALTER ROLE ${name} LOGIN PASSWORD ${escapeLiteral(scramVerifier(password))}`);
}

async function ownedSequences(client: Client, table: string): Promise<readonly { schema: string; name: string }[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `SELECT n.nspname AS schema, s.relname AS name
     FROM pg_catalog.pg_depend d
     JOIN pg_catalog.pg_class s ON s.oid = d.objid AND s.relkind = 'S'
     JOIN pg_catalog.pg_namespace n ON n.oid = s.relnamespace
     WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.refobjid = $1::regclass AND d.deptype IN ('a', 'i')`,
    [table],
  );
  return rows;
}

function toRelation(text: string): { readonly schema: string; readonly name: string } {
  const parts = text.split('.');
  const [schema, name] = parts;
  if (parts.length !== 2 || !schema || !name)
    throw new TypeError(`Granted table "${text}": expected schema.table, such as public.orders`);
  return { schema, name };
}
