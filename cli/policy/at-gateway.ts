import { GatewayPolicy } from '../../client/gateway-policy';
import { createSigner } from '../../client/signer';
import { isSameRevision, signRevision } from '../../signing/policy-revision';
import type { Env } from '../../workers/config';
import type { GatewaySettings } from '../gateway/settings';
import { loadOperatorKey } from '../key-files';
import type { PublishedPolicy } from './published';

/** The policy through a gateway; the operator key at `keyFile` signs requests and revisions. */
export function policyAtGateway(env: Env, { url, trust }: GatewaySettings, keyFile: string): PublishedPolicy {
  const serviceKey = createSigner(loadOperatorKey(env, keyFile, '--key'));
  const policy = new GatewayPolicy({ baseUrl: url, serviceKey }, trust);
  return {
    newest: async () => (await policy.newest()).newest,
    publish: async (publishing) => {
      const { next, newest } = await policy.newest();
      if (newest !== null && isSameRevision(newest.revision, publishing))
        return { revision: newest.revision.revision, published: false };
      const { bundleText, operator, now } = publishing;
      const plans = publishing.plans.map(({ plan }) => plan);
      await policy.publish({ envelope: signRevision(next, publishing, operator, now), bundleText, plans });
      return { revision: next, published: true };
    },
    close: async () => undefined,
  };
}
