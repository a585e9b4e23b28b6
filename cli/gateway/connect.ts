import { GatewayClient } from '../../client/gateway-client';
import { createSigner, type Signer } from '../../client/signer';
import { evidenceText } from '../../policy/evidence/bundle';
import type { RegisteredKey } from '../../policy/evidence/key-registry';
import type { Env } from '../../workers/config';
import { loadKey } from '../key-files';
import type { Connected, ConnectOptions } from '../reviews/connection';
import { UsageError } from '../usage-error';
import type { GatewaySettings } from './settings';

/** Reviews through a gateway: one key signs requests and statements, and there are no credentials of PostgreSQL or Temporal. */
export function connectGateway(env: Env, settings: GatewaySettings, options: ConnectOptions): Connected {
  const signer = signerOf(env, settings, options);
  const client = clientOf(settings, options, signer);
  return {
    reviews: client,
    ledgerRows: async (changeId) => (await client.bundle(changeId)).rows,
    evidence: async (changeId, { bytes }, log) => {
      log('A gateway does not serve the history of the workflow, so its digest is not in the file');
      const bundle = await client.bundle(changeId, { inclusion: true });
      return evidenceText(bytes ? bundle : { ...bundle, bytes: null, preview: null });
    },
    keyFile: options.key ?? settings.keyFile,
    keyId: signer.keyId,
    temporal: null,
    close: async () => undefined,
  };
}

/** The registry entry of the key that requests are signed with, signed by a trusted operator. */
export async function keyAtGateway(env: Env, settings: GatewaySettings): Promise<RegisteredKey> {
  return await clientOf(settings, {}, signerOf(env, settings, {})).key();
}

function signerOf(env: Env, settings: GatewaySettings, options: ConnectOptions): Signer {
  const keyFile = options.key ?? settings.keyFile;
  if (keyFile === null)
    throw new UsageError(
      `--key is missing: requests to ${settings.url} are signed. Give it, set COUNTERSIGN_KEY_FILE, or use "countersign login"`,
    );
  return createSigner(loadKey(env, keyFile));
}

function clientOf({ url, trust, tenant }: GatewaySettings, options: ConnectOptions, serviceKey: Signer): GatewayClient {
  return new GatewayClient({
    baseUrl: url,
    tenant: options.tenant ?? tenant,
    serviceKey,
    trust,
  });
}
