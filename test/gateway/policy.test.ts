import { GatewayPolicy } from '../../client/gateway-policy';
import { createSigner } from '../../client/signer';
import type { RegisteredKey } from '../../policy/evidence/key-registry';
import type { SignedRevision } from '../../policy/evidence/published-policy';
import { newKeyPair, type SigningKey } from '../../signing/keys';
import { signRevision } from '../../signing/policy-revision';
import { starterBundle } from '../../source-tools/starter-bundle';
import { compileAll } from '../../workers/compile';
import { extensionsOf } from '../../workers/extensions';
import { testKey } from '../support/keys';
import { fakeGateway } from './fake-gateway';

const operator = testKey('operator', 'olga');
const untrusted = testKey('operator', 'ulf');
const left = testKey('operator', 'lea');
const ofOneTenant = testKey('operator', 'tina', { tenants: ['acme'] });
const agent = testKey('service', 'shopbot');
const now = new Date();
const HOUR_AGO = new Date(now.getTime() - 3_600_000);

const bundleText = starterBundle('SQLDryRun', { targets: ['shop'], members: ['alice'], development: false });
const compiled = compileAll(bundleText, extensionsOf([]));
const plans = compiled.map(({ plan }) => plan);
const signed = (revision: number, key: SigningKey = operator, at = now): SignedRevision => ({
  envelope: signRevision(revision, { bundleText, plans: compiled }, key, at),
  bundleText,
  plans,
});

/** A gateway whose revisions are in memory. */
function world() {
  const stored: SignedRevision[] = [];
  const find = (keyId: string): RegisteredKey | undefined =>
    [operator, untrusted, left, ofOneTenant, agent].find((key) => key.keyId === keyId)?.entry;
  const app = fakeGateway({
    policy: {
      operators: [
        operator.publicKey,
        ofOneTenant.publicKey,
        { publicKey: left.publicKey, until: HOUR_AGO.toISOString() },
      ],
      newest: async () => {
        const last = stored.at(-1);
        return {
          next: stored.length + 1,
          newest: last === undefined ? null : { envelope: last.envelope, bundleText: last.bundleText },
        };
      },
      store: async (revision, each) => {
        if (revision !== stored.length + 1) return stored.length + 1;
        stored.push(each);
        return null;
      },
    },
    keys: async () => ({ find }),
  });
  const client = (key: SigningKey, operators: readonly string[] = [operator.publicKey]): GatewayPolicy =>
    new GatewayPolicy(
      {
        baseUrl: 'http://gateway',
        serviceKey: createSigner(key),
        fetch: async (url, init) => await app.request(String(url), init),
      },
      { operators: [...operators], committers: [] },
    );
  return { stored, client };
}

it('an operator publishes a revision and reads it back, verified with the operators that the reader trusts', async () => {
  const { stored, client } = world();
  expect(await client(operator).newest()).toEqual({ next: 1, newest: null });
  await client(operator).publish(signed(1));
  expect(stored).toEqual([signed(1)]);
  const { next, newest } = await client(operator).newest();
  expect([next, newest?.revision.revision, newest?.bundleText]).toEqual([2, 1, bundleText]);
  await expect(client(operator, [newKeyPair().publicKey]).newest()).rejects.toMatchObject({ code: 'not_verified' });
});

it('a revision whose number is not the next one is a conflict, and the message names the next', async () => {
  const { client } = world();
  await client(operator).publish(signed(1));
  for (const revision of [1, 3])
    await expect(client(operator).publish(signed(revision))).rejects.toMatchObject({
      code: 'conflict',
      field: 'revision',
      message: expect.stringMatching(`expected 2, got ${revision}.*publish yours again`),
    });
});

const other = signRevision(1, { bundleText: `${bundleText}\n`, plans: compiled }, operator, now);
it.each<[string, SigningKey, SignedRevision, object]>([
  ['of an agent', agent, signed(1), { code: 'not_eligible', message: expect.stringContaining('"operate"') }],
  ['of an operator of one tenant', ofOneTenant, signed(1, ofOneTenant), { code: 'not_eligible' }],
  ['of an operator that the processes do not trust', untrusted, signed(1, untrusted), { code: 'not_verified' }],
  ['of an operator whose time has ended, dated back', left, signed(1, left, HOUR_AGO), { code: 'not_verified' }],
  ['that another operator signed', operator, signed(1, ofOneTenant), { code: 'not_verified', field: 'envelope' }],
  ['for another bundle', operator, { ...signed(1), envelope: other }, { code: 'not_verified', field: 'envelope' }],
  [
    'with another plan than the signed one',
    operator,
    { ...signed(1), plans: plans.map((plan) => ({ ...plan, development: !plan.development })) },
    { code: 'not_verified', field: 'plans' },
  ],
  ['with a plan twice', operator, { ...signed(1), plans: [...plans, ...plans] }, { code: 'not_verified' }],
  ['without its plans', operator, { ...signed(1), plans: [] }, { code: 'invalid_input' }],
  ['with NUL in its bundle', operator, { ...signed(1), bundleText: 'a\0' }, { code: 'invalid_input' }],
])('refuses a revision %s, and stores nothing', async (_name, key, revision, error) => {
  const { stored, client } = world();
  await expect(client(key).publish(revision)).rejects.toMatchObject(error);
  expect(stored).toEqual([]);
});
