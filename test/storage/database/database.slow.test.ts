import { connect, createServer, Socket, type AddressInfo, type Server } from 'node:net';
import { Client } from 'pg';
import { createLedger } from '../../../storage/ledger/ledger';
import { KEEP_ALIVE_MS, openDatabase, type Database } from '../../../storage/database/database';
import { migrate } from '../../../storage/database/migrate';
import { createByteStore } from '../../../storage/store/byte-store';
import { APPEND_GRANTS, ROLES, TABLE_GRANTS, type Role } from '../../../storage/database/roles';
import { LedgerKind } from '../../../policy/contracts/ledger';
import { STATEMENTS } from '../../../policy/evidence/ledger-port';
import { eventually } from '../../support/eventually';
import { useDatabase, usePostgres } from '../../support/postgres';

/** SHA-256 of no bytes. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** When the tests of this file begin: the database refuses times that are far from its clock. */
let AT: string;
beforeAll(() => void (AT = new Date().toISOString()));
const id = (n: number): string => n.toString(16).padStart(64, '0');
const postgres = usePostgres(true);
const database = useDatabase({}, postgres);

describe('migrate', () => {
  it('can run again and concurrently, and keeps existing rows', async () => {
    const ledger = createLedger(database.open('admin'));
    await ledger.append(id(1), [{ kind: 'refused', at: AT, body: {}, factKey: 'a' }]);
    const roles = Object.fromEntries(ROLES.map((role) => [role, 'only-for-tests']));
    await postgres.server.createDatabase('another');
    const another = postgres.server.superuserUrl('another');
    await Promise.all([database.adminUrl, database.adminUrl, another].map((url) => migrate(url, { roles })));
    expect(await ledger.read(id(1))).toHaveLength(1);
  });

  it.each([999, 8])('refuses a database with a newer schema, or one that is too old: version %s', async (version) => {
    const other = await postgres.database();
    const admin = other.open('admin');
    await admin.query('delete from schema_info');
    await admin.query('insert into schema_info (version) values ($1)', [version]);
    await expect(migrate(other.adminUrl, { roles: {} })).rejects.toThrow(`schema version ${version}`);
    expect((await admin.query('select version from schema_info')).rows).toEqual([{ version }]);
  });

  it('reports the error that ended its connection, not that of the rollback after it', async () => {
    const fresh = await postgres.database();
    const admin = fresh.open('admin');
    await admin.query(
      'create function end_connection() returns event_trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); end $$',
    );
    await admin.query('create event trigger ending on ddl_command_start execute function end_connection()');
    await expect(migrate(fresh.adminUrl, { roles: {} })).rejects.toThrow('terminating connection');
  });

  it('accepts a password with quotes, and keeps the old one if none is given', async () => {
    const odd = `it's a "pass" \\ word`;
    const fresh = await postgres.database();
    await migrate(fresh.adminUrl, { roles: { cs_reader: odd } });
    await migrate(fresh.adminUrl, { roles: {} });
    const client = new Client({
      connectionString: fresh.url('cs_reader').replace('only-for-tests', encodeURIComponent(odd)),
    });
    await client.connect();
    await client.end();
    await migrate(fresh.adminUrl, { roles: { cs_reader: 'only-for-tests' } });
  });
});

describe('an append-only table', () => {
  const tables = [
    'ledger',
    'answer_nonces',
    'keys',
    'key_revocations',
    'policy_revisions',
    'policy_revocations',
    'staging_records',
    'rehearsals',
    'history_replays',
    'effect_sends',
    'target_freezes',
    'ledger_checkpoints',
    'ledger_leaves',
    'ledger_nodes',
  ];

  it.each(tables)('%s rejects UPDATE, DELETE and TRUNCATE, also for its owner and a superuser', async (table) => {
    const admin = database.open('admin');
    const { rows } = await admin.query<{ column_name: string }>(
      'select column_name from information_schema.columns where table_name = $1',
      [table],
    );
    for (const sql of [
      `update ${table} set ${rows[0]?.column_name} = default`,
      `delete from ${table}`,
      `truncate ${table}`,
    ]) {
      await expect(admin.query(sql)).rejects.toThrow(/append-only|can only be updated to DEFAULT/);
    }
    await expect(admin.query(`delete from ${table}`)).rejects.toThrow('append-only');
  });
});

describe('a role', () => {
  it.each(ROLES)('%s has exactly the listed table privileges', async (role) => {
    const { rows } = await database.open('admin').query<{ table: string; rights: string[] }>(
      `select c.relname as table, array_remove(array[
         case when has_table_privilege($1, c.oid, 'select') then 'select' end, case when has_table_privilege($1, c.oid, 'insert') then 'insert' end,
         case when has_table_privilege($1, c.oid, 'update') then 'update' end, case when has_table_privilege($1, c.oid, 'delete') then 'delete' end,
         case when has_table_privilege($1, c.oid, 'truncate') then 'truncate' end], null) as rights
       from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`,
      [role],
    );
    const actual = Object.fromEntries(rows.filter(({ rights }) => rights.length > 0).map((r) => [r.table, r.rights]));
    expect(actual).toEqual(TABLE_GRANTS[role]);
  });

  it.each(['cs_review', 'cs_judge', 'cs_operator'] as const)(
    '%s cannot read previews, which contain rows of targets: it needs none',
    async (role) => {
      const read = database.open(role).query('select preview from staging_records');
      await expect(read).rejects.toMatchObject({ code: '42501' });
    },
  );

  it('of the committer cannot store diffs: only what is submitted is stored', async () => {
    const put = createByteStore(database.open('cs_commit')).put('acme', new Uint8Array([1]));
    await expect(put).rejects.toMatchObject({ code: '42501' });
  });

  it.each(ROLES)('%s can append only its own kinds', async (role) => {
    const ledger = createLedger(database.open(role));
    const allowed = APPEND_GRANTS[role] ?? [];
    for (const kind of LedgerKind.options) {
      const done = ledger.append(id(50 + ROLES.indexOf(role)), [{ kind, at: AT, body: {}, factKey: kind }]);
      if (allowed.includes(kind)) await done;
      else await expect(done).rejects.toMatchObject({ code: '42501' });
    }
  });

  it.each(ROLES)('%s can use up a nonce, or the counter of a passkey, with a statement only', async (role) => {
    const ledger = createLedger(database.open(role));
    const nonce = { keyId: `${role} key`, nonce: 'n', passkey: { counter: 4294967295, assertionSha: id(1) } };
    for (const kind of APPEND_GRANTS[role] ?? []) {
      const entry = { kind: LedgerKind.parse(kind), at: AT, body: {}, factKey: `${kind} with a nonce`, nonce };
      const done = ledger.append(id(70 + ROLES.indexOf(role)), [entry]);
      if ((STATEMENTS as readonly string[]).includes(kind)) await done;
      else await expect(done).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('other than the review worker and the committer cannot write the projection', async () => {
    const projection = {
      tenant: 'a',
      target: 'b',
      sourceTool: 'C',
      inputSha: id(9),
      mode: 'enforced',
      openedAt: AT,
    } as const;
    const append = (role: Role) =>
      createLedger(database.open(role)).append(
        id(60),
        [{ kind: 'refused', at: AT, body: {}, factKey: role }],
        projection,
      );
    await expect(append('cs_gateway')).rejects.toMatchObject({ code: '42501' });
    // Only a row `submitted` lists a change, or the committer, which ends changes that were never opened.
    await expect(append('cs_review')).rejects.toMatchObject({ code: '42501' });
    await append('cs_commit');
  });

  it('is the actor of its rows, and cannot take the place of a row of another role [P8]', async () => {
    const refusal = { kind: 'refused', at: AT, body: {}, factKey: 'refused:decision' } as const;
    const append = (role: Role) => createLedger(database.open(role)).append(id(61), [refusal]);
    for (const role of ['cs_gateway', 'cs_judge', 'cs_review', 'cs_commit'] as const) await append(role);
    const rows = await createLedger(database.open('cs_reader')).read(id(61));
    expect(rows.map(({ row }) => row.actor)).toEqual(['cs_gateway', 'cs_judge', 'cs_review', 'cs_commit']);
    await append('cs_commit');
    expect(await createLedger(database.open('cs_reader')).refusalCounts(id(61))).toEqual([
      { factKey: 'refused/cs_commit/refused:decision', count: 1 },
    ]);
  });

  it('other than the committer cannot end a review, and none can change what identifies it', async () => {
    const submission = { tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun' };
    const body = { inputSha: id(1), submission, requester: 'ada' };
    const first = { ...submission, inputSha: id(2), mode: 'enforced', openedAt: AT, requester: 'eve' } as const;
    const [review, commit] = [createLedger(database.open('cs_review')), createLedger(database.open('cs_commit'))];
    await review.append(id(62), [{ kind: 'submitted', at: AT, body, factKey: 'submitted' }], first);
    const listed = { ...submission, inputSha: id(1), requester: 'ada', openedAt: AT };
    expect(await review.review(id(62))).toMatchObject(listed);
    await expect(review.append(id(62), [], { state: 'ROLLED_BACK', closedAt: AT })).rejects.toMatchObject({
      code: '42501',
    });
    const closed = { kind: 'closed', at: AT, body: { state: 'COMMITTED', reason: null }, factKey: 'closed' } as const;
    await commit.append(id(62), [closed], { ...first, tenant: 'other', state: 'COMMITTED', closedAt: AT });
    await review.append(id(62), [], { ...first, tenant: 'other', state: 'RUNNING', closedAt: AT });
    expect(await review.review(id(62))).toMatchObject({ ...listed, state: 'COMMITTED', closedAt: AT });
  });

  it('cannot store bytes under the digest of others [P3]', async () => {
    const insert = `insert into blobs (tenant, digest, size, bytes) values ('t', $1, 3, 'abc')`;
    for (const role of ['cs_gateway', 'cs_review'] as const)
      await expect(database.open(role).query(insert, [id(4)])).rejects.toMatchObject({ code: '23514' });
  });

  it('cannot write a ledger row without the function that chains it', async () => {
    const columns = 'change_id, n, prev, hash, kind, at, actor, body, fact_key';
    const values = `'${id(70)}', 0, 'x', 'x', 'receipt', '${AT}', 'x', '{}', 'x'`;
    for (const role of ROLES) {
      const db = database.open(role);
      await expect(db.query(`insert into ledger (${columns}) values (${values})`)).rejects.toMatchObject({
        code: '42501',
      });
      await expect(db.query('create table mine ()')).rejects.toMatchObject({ code: '42501' });
      await expect(db.query('alter table ledger disable trigger all')).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('cannot append a refusal of a check that other processes make, with which a review could be ended [P8]', async () => {
    const append = (role: Role, check: string) =>
      createLedger(database.open(role)).append(id(83), [{ kind: 'refused', at: AT, body: { check }, factKey: check }]);
    for (const [check, allowed] of [
      ['stage', ['cs_commit']],
      ['step_failed', ['cs_commit', 'cs_review']],
      ['nothing_applied', ['cs_commit']],
      ['effect_unknown', ['cs_commit']],
    ] as const)
      for (const role of ['cs_commit', 'cs_judge', 'cs_review', 'cs_gateway'] as const)
        if (allowed.some((one) => one === role)) await append(role, check);
        else await expect(append(role, check)).rejects.toMatchObject({ code: '42501' });
    // The bounds of an array can be chosen.
    const shifted = `select * from ledger_append($1, '{refused}', array[$2], '[0:1]={"{}","{\\"check\\":\\"stage\\"}"}', '{f}', '{null}', '{null}', null)`;
    await expect(database.open('cs_gateway').query(shifted, [id(83), AT])).rejects.toMatchObject({ code: '42501' });
    // PostgreSQL reads no name with a NUL, and must not take it for the name without one.
    const body = { check: 'stage', 'check\0': 'x' };
    const twice = createLedger(database.open('cs_gateway')).append(id(83), [
      { kind: 'refused', at: AT, body, factKey: 'f' },
    ]);
    await expect(twice).rejects.toMatchObject({ code: '42501' });
    expect((await createLedger(database.open('cs_reader')).read(id(83))).map(({ row }) => row.actor)).toEqual([
      'cs_commit',
      'cs_commit',
      'cs_review',
      'cs_commit',
      'cs_commit',
    ]);
  });

  it('cannot append a row that readers cannot read [P8]', async () => {
    const db = database.open('cs_gateway');
    const append = (body: string, at = AT) =>
      db.query(`select * from ledger_append($1, '{refused}', $2, $3, '{f}', '{null}', '{null}', null)`, [
        id(80),
        [at],
        [body],
      ]);
    const long = `{"a":"${'x'.repeat(1024 * 1024)}"}`;
    for (const body of ['not json', 'null', '{"a":1e999}', '{"b":1, "a":2}', '{"a":1,"a":2}', long])
      await expect(append(body)).rejects.toMatchObject({ code: '22023' });
    for (const at of ['-'.repeat(20), '2026-01-02T03:04:05.000Z', '9999-12-31T23:59:59.999Z'])
      await expect(append('{}', at)).rejects.toMatchObject({ code: '22023' });
    expect(await createLedger(db).read(id(80))).toEqual([]);
  });

  it('cannot change with settings of its session what is canonical or when now is [P8]', async () => {
    const append = (setting: string, body: string, hours: number) =>
      database.open('cs_gateway').transaction(async (tx) => {
        await tx.query(`set local ${setting}`);
        const at = new Date(Date.now() + hours * 3_600_000).toISOString();
        return tx.query(`select * from ledger_append($1, '{refused}', $2, $3, '{f}', '{null}', '{null}', null)`, [
          id(82),
          [at],
          [body],
        ]);
      });
    const refused = { code: '22023' };
    await expect(append('extra_float_digits = 0', '{"a":4.94065645841247e-324}', 0)).rejects.toMatchObject(refused);
    await expect(append(`timezone = '<Z>-20<UTC>-20'`, '{}', 20)).rejects.toMatchObject(refused);
    await expect(append(`timezone = '<Z>20<UTC>20'`, '{}', -20)).rejects.toMatchObject(refused);
    await append('standard_conforming_strings = off', '{"a":"\\\\"}', 0);
    expect(await createLedger(database.open('cs_reader')).read(id(82))).toMatchObject([{ row: { body: { a: '\\' } } }]);
  });

  it('cannot append a record of a key that is not registered [P8]', async () => {
    const envelope = { payload: 'e30=', payloadType: 'x', signatures: [{ keyid: 'mallory', sig: 'AA==' }] };
    const record = { kind: 'attested', at: AT, body: { envelope }, factKey: 'a' } as const;
    for (const role of ['cs_judge', 'cs_review'] as const)
      await expect(createLedger(database.open(role)).append(id(81), [record])).rejects.toMatchObject({ code: '22023' });
  });
});

describe('an unavailable database', () => {
  const url = (port: number): string => `postgresql://cs_review:x@127.0.0.1:${port}/countersign`;
  let closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing) await close();
    closing = [];
  });
  const open = (connection: string, more: object = {}): Database => {
    const db = openDatabase({
      url: connection,
      applicationName: 'test',
      ...more,
    });
    closing.push(() => db.close());
    return db;
  };
  const unavailable = { type: 'STORE_UNAVAILABLE', nonRetryable: false };

  it('gives STORE_UNAVAILABLE if its server has become one that only reads, and does not use that connection again', async () => {
    const fresh = await postgres.database();
    const mode = (readOnly: boolean) =>
      fresh.open('admin').query(`alter database ${fresh.name} set default_transaction_read_only = ${readOnly}`);
    for (const write of [
      (db: Database) => createByteStore(db).put('acme', new Uint8Array([1])),
      (db: Database) => db.transaction((tx) => createByteStore(tx).put('acme', new Uint8Array([1]))),
    ]) {
      const db = open(fresh.url('cs_review'), { max: 1 });
      await mode(true);
      await expect(write(db)).rejects.toMatchObject(unavailable);
      await mode(false);
      await write(db);
    }
  });

  it('is noticed on a connection that waits for hours, such as one with a lock: packets are sent on it', async () => {
    const keepAlive = jest.spyOn(Socket.prototype, 'setKeepAlive');
    await open(database.url('cs_commit')).query('select 1');
    expect(keepAlive.mock.calls).toEqual([[true, KEEP_ALIVE_MS]]);
    keepAlive.mockRestore();
  });

  it('gives a retryable STORE_UNAVAILABLE if it refuses connections', async () => {
    await expect(open(url(1)).query('select 1')).rejects.toMatchObject(unavailable);
  });

  it('gives STORE_UNAVAILABLE, and the process lives, if the connection fails in the packet that ends the login', async () => {
    const message = (type: string, body: Buffer): Buffer => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(body.length + 4);
      return Buffer.concat([Buffer.from(type), length, body]);
    };
    const fatal = message(
      'E',
      Buffer.from('SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0'),
    );
    const packet = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I')), fatal]);
    const dying: Server = createServer((socket) => {
      socket.on('error', () => {}); // the client closes the connection
      socket.once('data', () => socket.end(packet));
    });
    await new Promise<void>((done) => dying.listen(0, '127.0.0.1', done));
    closing.push(() => dying.close());
    const db = open(url((dying.address() as AddressInfo).port));
    await expect(db.query('select 1')).rejects.toMatchObject(unavailable);
    await expect(db.transaction(({ query }) => query('select 1'))).rejects.toMatchObject(unavailable);
  });

  it('gives STORE_UNAVAILABLE within the timeout if it accepts connections but does not respond', async () => {
    const silent: Server = createServer(() => {});
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    closing.push(() => silent.close());
    const db = open(url((silent.address() as AddressInfo).port), { connectTimeoutMs: 300, statementTimeoutMs: 300 });
    await expect(db.query('select 1')).rejects.toMatchObject(unavailable);
  });

  it('gives STORE_UNAVAILABLE if a statement takes too long, and can be used again', async () => {
    const db = open(database.url('cs_review'), { statementTimeoutMs: 1_000 });
    await expect(db.query('select pg_sleep(50)')).rejects.toMatchObject(unavailable);
    expect((await db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('gives STORE_UNAVAILABLE if the connection is cut during a statement, and connects again', async () => {
    const db = open(database.url('cs_review'), { statementTimeoutMs: 50_000 });
    const slow = db.query('select pg_sleep(45)');
    const admin = database.open('admin');
    const cut = async (): Promise<void> => {
      const { rowCount } = await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test' and datname = current_database() and query like '%pg_sleep(45)%' and pid <> pg_backend_pid()`,
      );
      if (rowCount === 0) await cut();
    };
    await Promise.all([expect(slow).rejects.toMatchObject(unavailable), cut()]);
    expect((await db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('gives STORE_UNAVAILABLE if the connection is cut between two statements of a transaction, and connects again', async () => {
    const db = open(database.url('cs_review'));
    const admin = database.open('admin');
    const cut = db.transaction(async ({ query }) => {
      const { rows } = await query<{ pid: number }>('select pg_backend_pid() as pid');
      const pid = rows[0]?.pid;
      await admin.query('select pg_terminate_backend($1)', [pid]);
      await eventually('the session is gone', async () => {
        const { rowCount } = await admin.query('select from pg_stat_activity where pid = $1', [pid]);
        return rowCount === 0;
      });
      await query('select 1');
    });
    await expect(cut).rejects.toMatchObject(unavailable);
    expect((await db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('gives STORE_UNAVAILABLE if the server ended an idle transaction while this process was suspended', async () => {
    const db = open(database.url('cs_review'));
    const suspended = db.transaction(async ({ query }) => {
      await query(`set local idle_in_transaction_session_timeout = '50ms'`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
      await query('select 1');
    });
    await expect(suspended).rejects.toMatchObject(unavailable);
    expect((await db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('does not change the error of an invalid statement', async () => {
    await expect(open(database.url('cs_review')).query('select nonsense')).rejects.toMatchObject({ code: '42703' });
  });

  it('rolls back a transaction when its work throws', async () => {
    const db = open(database.url('cs_review'));
    const insert = `insert into blobs (tenant, digest, size, bytes) values ('t', '${EMPTY}', 0, '')`;
    await expect(
      db.transaction(async (tx) => {
        await tx.query(insert);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect((await db.query('select from blobs where digest = $1', [EMPTY])).rowCount).toBe(0);
    await db.transaction((tx) => tx.query(insert));
    expect((await db.query('select from blobs where digest = $1', [EMPTY])).rowCount).toBe(1);
  });

  it('never uses a connection again on which a rollback failed', async () => {
    const insert = `insert into blobs (tenant, digest, size, bytes) values ('left open', '${EMPTY}', 0, '')`;
    const responses: Socket[] = [];
    const proxy: Server = createServer((socket) => {
      const upstream = connect(postgres.server.port, '127.0.0.1');
      responses.push(upstream);
      for (const end of [socket, upstream]) end.on('error', () => {});
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    closing.push(() => proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const through = database.url('cs_review').replace(/:\d+\//, `:${port}/`);
    const db = open(through, { max: 1, statementTimeoutMs: 1_000 });
    const failed = db.transaction(async (tx) => {
      await tx.query(insert);
      for (const response of responses) response.pause();
      tx.query('select 1').catch(() => {});
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    for (const response of responses) response.resume();
    await db.transaction((tx) => tx.query('select 1'));
    expect((await db.query(`select from blobs where tenant = 'left open'`)).rowCount).toBe(0);
  });

  it('throws if a statement of a transaction failed and its work went on, because nothing was committed', async () => {
    const db = open(database.url('cs_review'));
    const swallowed = db.transaction(async (tx) => {
      await tx.query('select nonsense').catch(() => {});
    });
    await expect(swallowed).rejects.toThrow('rolled back');
  });
});
