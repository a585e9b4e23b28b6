import { withoutFinding } from '../../support/review/written-findings';
import { attest } from '../../../activities/attestation';
import { verifyChange } from '../../../activities/committer/verify-change';
import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import type { ValidatorResult } from '../../../policy/contracts/finding';
import { givenToAggregate } from '../../../policy/evidence/attested-given';
import { openEnvelope } from '../../../policy/evidence/dsse';
import { AggregateRecord, aggregateResult } from '../../../policy/rules/aggregate/aggregate';
import { AggregateConfig } from '../../../policy/rules/aggregate/config';
import { testKey } from '../../support/keys';
import { memoryLedger, type MemoryLedger } from '../../support/memory-ledger';
import { rechained, withBody } from '../../support/review/ledger-rows';
import { allow, resultsOf } from '../../support/review/review-steps';
import { ReviewWorld, type WorldOptions } from '../../support/review/review-world';

const SPLIT = 'guardian.split';
const limitedTo = (more: string): string =>
  `\n  - pack: demo-pack\n  - aggregate: { name: split, window: 1h, ${more} }`;
const THREE = limitedTo('limits: { changes: 3 }');

let ledger: MemoryLedger;
let nth = 0;
beforeEach(() => (ledger = memoryLedger()));

/** Another change of the same agent on the same ledger. */
function change(more: WorldOptions = {}, validators = THREE): ReviewWorld {
  const text = more.text ?? `clean ${++nth}`;
  return new ReviewWorld({ ledger, ...more, text, bundle: { validators, ...more.bundle } });
}

async function opened(count: number, more: WorldOptions = {}): Promise<ReviewWorld[]> {
  const worlds: ReviewWorld[] = [];
  for (let i = 0; i < count; i++) worlds.push(await withOpened(change(more)));
  return worlds;
}

async function withOpened(world: ReviewWorld): Promise<ReviewWorld> {
  await world.open();
  return world;
}

const said = (world: ReviewWorld): ValidatorResult | undefined =>
  world.opened === null ? undefined : (resultsOf(world.plan, world.opened)[SPLIT] as ValidatorResult | undefined);
const verified = async (world: ReviewWorld) => verifyChange(world.deps, world.input, await world.rows());

async function recordOf(world: ReviewWorld): Promise<AggregateRecord> {
  for (const { row } of await world.rows()) {
    const envelope = row.kind === 'attested' ? openEnvelope('attested', row.body['envelope']) : null;
    if (envelope?.ok === true && envelope.statement.predicate.kind === 'aggregate')
      return AggregateRecord.parse(envelope.statement.predicate.record);
  }
  throw new Error('no aggregate record');
}

/** Appends a record signed by a registered attestor, with the content that the test gives. */
async function attested(world: ReviewWorld, record: AggregateRecord, result?: ValidatorResult): Promise<void> {
  const validator = world.plan.validators.find((v) => v.id === SPLIT);
  if (validator === undefined) throw new Error('the plan has no limit');
  const { changeId, inputSha } = world;
  const own = aggregateResult(SPLIT, changeId, AggregateConfig.parse(validator.config), record);
  const entry = attest(
    world.attestor,
    world.ref,
    {
      kind: 'aggregate',
      subject: SPLIT,
      logicHash: validator.logic_hash,
      stagingSha: null,
      given: givenToAggregate({ changeId, inputSha, record }),
      result: (result ?? own) as unknown as JsonValue,
      record: record as unknown as JsonObject,
    },
    world.at(),
  );
  await world.ledger.append(changeId, [entry]);
}

/** The rows without aggregate records, as if they were removed or never written. */
async function withoutSums(world: ReviewWorld) {
  return rechained(await world.rows(), (row) => {
    const envelope = row.kind === 'attested' ? openEnvelope('attested', row.body['envelope']) : null;
    return envelope?.ok === true && envelope.statement.predicate.kind === 'aggregate' ? null : row;
  });
}

describe('at the opening', () => {
  test('blocks the change that exceeds the limit and names the others, but not the changes before it', async () => {
    const [a, b, c, d] = await opened(4);
    expect([a, b, c].map((w) => w && said(w)?.status)).toEqual(['ALLOW', 'ALLOW', 'ALLOW']);
    expect(d && said(d)).toMatchObject({
      status: 'BLOCK',
      reasonCode: 'aggregate_limit',
      evidenceRefs: [c, b, a].map((w) => `review:${w?.changeId ?? ''}`),
      details: { changes: 4, sums: { changes: 4 } },
    });
  });

  test('does not allow two concurrent changes to both stay below the limit', async () => {
    await opened(2);
    const both = [change(), change()];
    await Promise.all(both.map((w) => w.open()));
    expect(both.map((w) => said(w)?.status).sort()).toEqual(['ALLOW', 'BLOCK']);
  });

  test('returns the recorded result on a retry, even if changes were opened or withdrawn since', async () => {
    const [first, , , held] = await opened(4);
    await opened(1);
    if (first === undefined || held === undefined) throw new Error('unreachable');
    await first.withdraw(first.keys.service);
    await first.rollback({ reason: 'withdrawn' });
    for (const [world, status] of [
      [first, 'ALLOW'],
      [held, 'BLOCK'],
    ] as const) {
      world.pass(1);
      expect((resultsOf(world.plan, await world.open())[SPLIT] as ValidatorResult | undefined)?.status).toBe(status);
      const sums = (await world.rows()).filter(({ row }) => {
        const envelope = row.kind === 'attested' ? openEnvelope('attested', row.body['envelope']) : null;
        return envelope?.ok === true && envelope.statement.predicate.kind === 'aggregate';
      });
      expect(sums).toHaveLength(1);
    }
  });

  test('opens nothing and allows nothing if the ledger cannot be read', async () => {
    const world = change();
    const away = { ...world.deps, openedBefore: () => Promise.reject(new Error('away')) };
    ledger.openedBefore = away.openedBefore;
    await expect(world.open()).rejects.toThrow('away');
    expect(world.opened).toBeNull();
    expect(await world.kinds()).toEqual([]);
  });

  test('does not count changes that are older than the window or of another tool', async () => {
    await opened(3);
    const later = change();
    later.pass(61);
    expect(said(await withOpened(later))?.status).toBe('ALLOW');
    const other = change({ sourceTool: 'Refund' });
    expect(said(await withOpened(other))?.status).toBe('ALLOW');
    expect((await recordOf(other)).counted).toEqual([]);
  });

  test('sums a change of an unknown agent with those of all agents, and counts it for others only once its commit has begun', async () => {
    const counted = async (world: ReviewWorld | undefined): Promise<string[]> =>
      world === undefined ? [] : (await recordOf(world)).counted.map(({ changeId }) => changeId);
    const [first] = await opened(1);
    const [unsigned] = await opened(1, { signedBy: 'none' });
    expect(await counted(unsigned)).toEqual([first?.changeId]);
    const [third] = await opened(1);
    expect(await counted(third)).toEqual([first?.changeId]);
    const intent = { kind: 'intent', at: '2026-03-01T12:00:00.000Z', factKey: 'settlement', body: {} } as const;
    await third?.ledger.append(unsigned?.changeId ?? '', [intent]);
    const [fourth] = await opened(1);
    expect(await counted(fourth)).toEqual([third?.changeId, unsigned?.changeId, first?.changeId]);
  });

  test.each([
    ['tenant, agent, target, sourceTool', 'ALLOW'],
    ['agent', 'ALLOW'],
    ['target', 'BLOCK'],
    ['sourceTool', 'BLOCK'],
  ])('counted by %s, three changes of rita and one of eve: %s', async (by, status) => {
    const validators = limitedTo(`by: [${by}], limits: { changes: 3 }`);
    for (let i = 0; i < 3; i++) await withOpened(change({}, validators));
    const world = change({}, validators);
    const eve = testKey('service', 'other-backend', { onBehalfOf: 'eve' });
    world.registered = [...world.registered, eve];
    await world.open({ ...world.submission, envelope: world.signSubmission(eve) });
    expect(said(world)?.status).toBe(status);
    expect((await recordOf(world)).requester).toBe('eve');
  });

  test('blocks changes split over several tenants if the limit does not count by tenant', async () => {
    const status = async (by: string): Promise<unknown> => {
      ledger = memoryLedger();
      const validators = limitedTo(`${by}limits: { changes: 3 }`);
      const parts = ['a', 'b', 'c', 'd'].map((tenant) => change({ tenant }, validators));
      for (const part of parts) await part.open();
      return parts.map((part) => said(part)?.status);
    };
    expect(await status('')).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'ALLOW']);
    expect(await status('by: [agent, target], ')).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'BLOCK']);
  });

  test.each([
    ['declined', true],
    ['forbidden', true],
    ['expired', true],
    ['withdrawn', false],
    ['superseded', false],
    ['stale_base', false],
  ] as const)('a change that ended %s counts: %s', async (reason, counts) => {
    const [first] = await opened(3);
    const closed = { kind: 'closed', at: '2026-03-01T12:00:00.000Z', factKey: 'closed' } as const;
    await first?.ledger.append(first.changeId, [{ ...closed, body: { state: 'ROLLED_BACK', reason } }]);
    const [next] = await opened(1);
    expect(next && said(next)?.status).toBe(counts ? 'BLOCK' : 'ALLOW');
  });

  test('does not measure the change if the plan has no such limit', async () => {
    const world = change({}, '\n  - pack: demo-pack');
    await world.open();
    const [submitted] = await world.rows();
    expect(submitted?.row.body).not.toHaveProperty('measure');
  });
});

describe('at the committer', () => {
  test('commits a change within the limit; the one above it needs an answer first', async () => {
    const worlds: ReviewWorld[] = [];
    for (let i = 0; i < 4; i++) worlds.push(await change().reviewed());
    expect(await worlds[2]?.commit()).toMatchObject({ state: 'COMMITTED' });
    const last = worlds[3];
    if (last === undefined) throw new Error('unreachable');
    expect(last.disclosed?.violations.map((v) => v.validatorId)).toEqual([SPLIT]);
    expect(await last.commit()).toMatchObject({ state: 'REFUSED' });
    await last.answer(last.keys.ada);
    expect(await last.commit()).toMatchObject({ state: 'COMMITTED' });
  });

  test('refuses a change without an attested sum', async () => {
    const world = await change().reviewed();
    expect(await verifyChange(world.deps, world.input, await withoutSums(world))).toMatchObject({ ok: false });
  });

  /** Verifies a fourth change whose record of the sum was replaced by a forged one that allows it. */
  async function loosened(forge: (record: AggregateRecord) => AggregateRecord, result?: ValidatorResult) {
    await opened(3);
    const world = await withOpened(change());
    await world.guard();
    if ((await world.stage()).kind !== 'staged') throw new Error('not staged');
    const rows = await withoutSums(world);
    const forged = await recordOf(world);
    await attested(world, forge(forged), result);
    const record = (await world.rows()).at(-1);
    if (record === undefined) throw new Error('unreachable');
    const all = rechained([...rows, record], (row) => withoutFinding(row, SPLIT));
    return verifyChange(world.deps, world.input, all);
  }

  test.each<[string, (r: AggregateRecord) => AggregateRecord, string]>([
    ['omits one change', (r) => ({ ...r, counted: r.counted.slice(1) }), 'sums'],
    ['is about another agent', (r) => ({ ...r, requester: 'eve', counted: [] }), 'attested'],
    ['is about another time', (r) => ({ ...r, openedAt: '2026-03-02T12:00:00.000Z', counted: [] }), 'attested'],
    ['is about another target', (r) => ({ ...r, target: 'other', counted: [] }), 'attested'],
    ['measures the change as too small', (r) => ({ ...r, own: { ...r.own, bytes: 1 }, counted: [] }), 'attested'],
  ])('refuses a record that an attestor signed and that %s', async (_name, forge, check) => {
    expect(await loosened(forge)).toMatchObject({ ok: false, check });
  });

  test('refuses a record that counts all changes but contains ALLOW', async () => {
    expect(await loosened((r) => r, allow(SPLIT))).toMatchObject({ ok: false, check: 'attested' });
  });

  test('refuses a second record that contains ALLOW, because its result does not follow from its counts', async () => {
    await opened(3);
    const world = await change().confirmed();
    expect(await verified(world)).toMatchObject({ ok: true, violations: [{ validatorId: SPLIT }] });
    await attested(world, await recordOf(world), allow(SPLIT));
    expect(await verified(world)).toMatchObject({ ok: false, check: 'attested' });
  });

  test('accepts a record that counted a change which was withdrawn since', async () => {
    const [first] = await opened(2);
    const world = await change().reviewed();
    await first?.withdraw(first.keys.service);
    await first?.rollback({ reason: 'withdrawn' });
    expect((await recordOf(world)).counted).toHaveLength(2);
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
  });

  test('refuses a measure in the ledger that differs from that of the bytes', async () => {
    const world = await change().reviewed();
    const rows = rechained(
      await world.rows(),
      withBody('submitted', (body) => ({ ...body, measure: { ...(body['measure'] as object), bytes: 1 } })),
    );
    // The record contains the real measure; later changes would count the one in the row.
    expect(await verifyChange(world.deps, world.input, rows)).toMatchObject({ ok: false });
  });
});

describe('a change that supersedes another', () => {
  async function replaces(first: ReviewWorld): Promise<ReviewWorld> {
    const world = change({ text: `again ${++nth}` });
    world.submission = { ...world.submission, supersedes: first.changeId };
    await world.open({ ...world.submission, envelope: world.signSubmission(world.keys.service) });
    await world.guard();
    if ((await world.stage()).kind !== 'staged') throw new Error('not staged');
    return world;
  }

  test('does not count it, and commits once it has ended', async () => {
    const [first] = await opened(3);
    if (first === undefined) throw new Error('unreachable');
    const second = await replaces(first);
    expect(said(second)?.status).toBe('ALLOW');
    first.registered = [...first.registered, second.keys.service];
    expect((await first.supersedeBy(second.changeId)).result.code).toBe('accepted');
    await first.rollback({ reason: 'superseded' });
    expect(await second.commit()).toMatchObject({ state: 'COMMITTED' });
  });

  test('is retried while the other is open, since that may still be committed', async () => {
    const [first] = await opened(3);
    if (first === undefined) throw new Error('unreachable');
    await expect((await replaces(first)).commit()).rejects.toThrow(
      `the review ${first.changeId}, which this change supersedes`,
    );
  });

  test('is refused if the other was committed after all, since only one of them was counted', async () => {
    const worlds = [await change().reviewed(), await change().reviewed(), await change().reviewed()];
    const [first] = worlds;
    if (first === undefined) throw new Error('unreachable');
    const second = await replaces(first);
    expect(await first.commit()).toMatchObject({ state: 'COMMITTED' });
    expect(await second.commit()).toMatchObject({ state: 'REFUSED' });
  });

  test('counts it if it is already committed', async () => {
    const worlds = [await change().reviewed(), await change().reviewed(), await change().reviewed()];
    const [first] = worlds;
    if (first === undefined) throw new Error('unreachable');
    await first.commit();
    expect(said(await replaces(first))?.status).toBe('BLOCK');
  });
});
