import { Hono } from 'hono';
import { CountersignError } from '../../client/errors';
import { parseJsonBody } from '../../client/http-body';
import { parseInput } from '../../client/parse';
import { planHash } from '../../policy/contracts/plan';
import { ANY_TENANT, type PolicyRevision } from '../../policy/evidence/predicates';
import type { RegisteredKey } from '../../policy/evidence/key-registry';
import { MAX_REVISION_BYTES, SignedRevision } from '../../policy/evidence/published-policy';
import { isSameRevision, verifiedRevision } from '../../signing/policy-revision';
import { NOTHING_DONE, type Callers } from '../callers';
import type { GatewayDeps } from '../deps';
import { canSign, publicKeyOf, type OperatorKey } from '../../signing/operator-key';

/**
 * GET and POST /v1/policy: the newest revision in force, and publishing the next one. The caller compiles and signs; every reader
 * of the policy verifies the signature again, so the gateway is not trusted.
 */
export function policyRoutes({ policy }: GatewayDeps, callers: Callers): Hono {
  const routes = new Hono();
  routes.get('/', async (c) => {
    assertEveryTenant((await callers.authenticate(c, 0, 'operate')).key);
    return c.json(await policy.newest());
  });
  routes.post('/', async (c) => {
    const { key, body } = await callers.authenticate(c, MAX_REVISION_BYTES, 'operate');
    assertEveryTenant(key);
    const signed = parseInput(SignedRevision, parseJsonBody(body), NOTHING_DONE);
    const { revision } = checkedRevision(signed, key, policy.operators);
    const next = await policy.store(revision, signed);
    if (next === null) return c.json({ revision });
    throw new CountersignError(
      'conflict',
      `revision: expected ${next}, got ${revision}. Another revision was published meanwhile; look at it, then publish yours again`,
      { field: 'revision' },
    );
  });
  return routes;
}

/** A revision decides about the changes of all tenants. */
function assertEveryTenant(key: RegisteredKey): void {
  if (key.tenants.includes(ANY_TENANT)) return;
  throw new CountersignError(
    'not_eligible',
    `Key ${key.keyId} may act only for ${key.tenants.join(', ')}, and a policy applies to every tenant: register the operator key with --tenant '*'`,
  );
}

/** What the caller signed. Throws unless a trusted operator's signature of the caller binds this bundle and these plans. */
function checkedRevision(
  { envelope, bundleText, plans }: SignedRevision,
  key: RegisteredKey,
  operators: readonly OperatorKey[],
): PolicyRevision {
  const refuse = (field: string, message: string): CountersignError =>
    new CountersignError('not_verified', `${field}: ${message}. ${NOTHING_DONE}`, { field });
  const publicKey = 'passkey' in key ? null : key.publicKey;
  const operator = operators.find((each) => publicKeyOf(each) === publicKey);
  const now = new Date();
  if (publicKey === null || operator === undefined || !canSign(operators, publicKey, now))
    throw refuse(
      'envelope',
      `key ${key.keyId} is not of an operator in the trust file of the gateway whose time has not ended, so no process would use the revision`,
    );
  const revision = verifiedRevision(envelope, bundleText, [operator], now.toISOString());
  if (revision === null) throw refuse('envelope', 'expected this bundle, signed by the key that sends it');
  if (revision.keyId !== key.keyId) throw refuse('envelope', 'the statement names another key than its signer');
  const sent = plans.map((plan) => ({ target: plan.target, sourceTool: plan.sourceTool, planHash: planHash(plan) }));
  if (!isSameRevision(revision, { bundleText, plans: sent }))
    throw refuse('plans', 'expected exactly the plans that the statement lists, in the same order');
  return revision;
}
