import { messageOf } from '../../client/errors';
import { readBody } from '../../client/http-body';
import type { LocalClient } from '../../workers/local-client';
import { failed, passed, type Check } from './check';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;

export async function checkGateway(local: LocalClient): Promise<readonly Check[]> {
  if (local.gatewayUrl === '') return [];
  const fix = 'Start the gateway, for example with "countersign up", or correct COUNTERSIGN_GATEWAY_URL';
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(`${local.gatewayUrl.replace(/\/$/, '')}/readyz`, { signal });
    if (answer.ok) return [passed('gateway', local.gatewayUrl)];
    const said = new TextDecoder().decode(await readBody(answer, MAX_BYTES, signal)).slice(0, 200);
    return [failed('gateway', `${local.gatewayUrl} answers ${answer.status} ${said}`, 'Read its log')];
  } catch (error) {
    return [failed('gateway', `${local.gatewayUrl}: ${messageOf(error)}`, fix)];
  }
}
