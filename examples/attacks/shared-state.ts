import type { Envelope } from '../../policy/contracts/diff';
import { OBJECTS, reseedShop, SHOPS, tablesDigest, type ShopObject } from './shop';
import type { Testbed } from './testbed';

/** What one attack could find because of another: a text for each part, which is equal before every attack. */
type Parts = Readonly<Record<string, string>>;

/**
 * What the attacks share: the rows and objects of the targets, the policy in force, frozen targets, revoked keys, rate limits of
 * task queues, and what the rules know of other changes. It is restored after each attack and then compared, so that an attack has
 * the same result alone and in any order.
 */
export class SharedState {
  private constructor(
    private readonly testbed: Testbed,
    private readonly first: Parts,
    private readonly objects: ReadonlySet<string>,
  ) {}

  /** The state in which every attack starts: the current one, with the first rows of the targets. */
  static async of(testbed: Testbed): Promise<SharedState> {
    await restoreShops(testbed, new Set(await objectNames(testbed)));
    await forgetOtherChanges(testbed);
    return new SharedState(testbed, await read(testbed), new Set(await objectNames(testbed)));
  }

  /** Removes what the last attack left behind. Returns the parts that are still not as they were. */
  async restore(): Promise<readonly string[]> {
    await restoreShops(this.testbed, this.objects);
    await forgetOtherChanges(this.testbed);
    const now = await read(this.testbed);
    return Object.keys(now).filter((part) => now[part] !== this.first[part]);
  }
}

/**
 * Earlier rejects hold the same change again, and earlier changes count for limits. Both are found by columns that only serve to
 * search: the rows and their hashes stay.
 */
async function forgetOtherChanges(testbed: Testbed): Promise<void> {
  await testbed.ledger(
    `set session_replication_role = replica; update ledger set mark = null where mark = 'reject'; update ledger set measure = null where measure is not null`,
  );
}

async function restoreShops(testbed: Testbed, known: ReadonlySet<string>): Promise<void> {
  for (const shop of SHOPS) {
    for (const { name, removal } of await objectsOf(testbed, shop))
      if (!known.has(`${shop}: ${name}`) && removal !== null) await testbed.target(removal, [], shop);
    await reseedShop(testbed.dev.setup.targetAdminUrls[shop] ?? '');
  }
}

const objectsOf = async (testbed: Testbed, shop: string): Promise<readonly ShopObject[]> =>
  (await testbed.target(OBJECTS, [], shop)) as unknown as readonly ShopObject[];

async function objectNames(testbed: Testbed): Promise<string[]> {
  const names = await Promise.all(
    SHOPS.map(async (shop) => (await objectsOf(testbed, shop)).map(({ name }) => `${shop}: ${name}`)),
  );
  return names.flat();
}

async function read(testbed: Testbed): Promise<Parts> {
  const [row] = await testbed.ledger<{ revoked: string | null; known: number }>(
    `select (select string_agg(key_id, ' ' order by key_id) from key_revocations where key_id = any($1)) as revoked,
            (select count(*)::int from ledger where mark = 'reject' or measure is not null) as known`,
    [Object.values(testbed.dev.setup.keys).map(({ key }) => key.keyId)],
  );
  return {
    'rows of a target': await tablesDigest((text, shop) => testbed.target(text, [], shop)),
    'objects of a target': (await objectNames(testbed)).join('\n'),
    'policy in force': await policyInForce(testbed),
    'frozen targets': await frozenTargets(testbed),
    'revoked keys': row?.revoked ?? '',
    'changes that rules find': String(row?.known),
    'rate limits of task queues': await rateLimits(testbed),
  };
}

/** The newest policy that the operator signed. */
async function policyInForce(testbed: Testbed): Promise<string> {
  const rows = await testbed.ledger<{ bundle_sha: string; envelope: Envelope | null }>(
    'select bundle_sha, envelope from policy_revisions order by revision desc',
  );
  return rows.find(({ envelope }) => isOperators(testbed, envelope))?.bundle_sha ?? 'none';
}

async function frozenTargets(testbed: Testbed): Promise<string> {
  const rows = await testbed.ledger<{ target: string; envelope: Envelope }>(
    'select target, envelope from target_freezes order by n desc',
  );
  const signed = rows.filter(({ envelope }) => isOperators(testbed, envelope));
  const newest = new Map(signed.reverse().map(({ target, envelope }) => [target, envelope]));
  return [...newest].flatMap(([target, envelope]) => (isFreeze(envelope) ? [target] : [])).join(' ');
}

const isOperators = ({ operator }: Testbed, envelope: Envelope | null): boolean =>
  envelope?.signatures.some(({ keyid }) => keyid === operator.key.keyId) === true;

function isFreeze({ payload }: Envelope): boolean {
  const statement = JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as { predicate: { frozen: boolean } };
  return statement.predicate.frozen;
}

async function rateLimits({ attacker, queues }: Testbed): Promise<string> {
  const limits = await Promise.all(Object.values(queues).map((queue) => attacker.rateLimit(queue)));
  return limits.map((limit) => limit ?? 'none').join(' ');
}
