import { createHmac } from 'node:crypto';
import { linkTo, type NoticeBody } from '../message';
import type { Delivery } from './delivery';
import { post } from './post';

/**
 * One request for each notice, signed as in Standard Webhooks (https://www.standardwebhooks.com): `webhook-id`, `webhook-timestamp`,
 * `webhook-signature: v1,<base64>` over `id.timestamp.body`. Delivered at least once, always with the same id.
 */
export function sendWebhook(
  { url, secret }: { readonly url: string; readonly secret: string },
  { id, notice }: { readonly id: string; readonly notice: NoticeBody },
  context: { readonly inbox: string; readonly privateAddresses: readonly string[]; readonly now: Date },
): Promise<Delivery> {
  const body = JSON.stringify({ ...notice, link: linkTo(context.inbox, notice.changeId) });
  const timestamp = String(Math.floor(context.now.getTime() / 1000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  return post({ url, headers, body, privateAddresses: context.privateAddresses });
}
