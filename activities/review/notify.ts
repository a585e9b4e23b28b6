import { createHmac } from 'node:crypto';
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import type { NotifyInput, ReviewActivities } from '../review-types';

/** A webhook in the configuration of this worker. To prevent SSRF, URLs never come from a change. */
export interface Webhook {
  readonly url: string;
  /** HMAC-SHA256 key, at least 16 bytes of text. */
  readonly secret: string;
}

export interface NoticeDeps {
  readonly log: (message: string, facts: Readonly<Record<string, unknown>>) => void;
  readonly webhooks: ReadonlyMap<string, Webhook>;
  readonly now: () => Date;
}

const TIMEOUT_MS = 10_000;

/**
 * Notifies people that a review waits for them. Notices contain only texts of this application and of the policy, and cannot be
 * used to answer. Webhooks are signed as in Standard Webhooks (https://www.standardwebhooks.com): `webhook-id`,
 * `webhook-timestamp`, `webhook-signature: v1,<base64>` over `id.timestamp.body`. Delivered at least once, with a stable id.
 */
export function createNoticeActivities(deps: NoticeDeps): Pick<ReviewActivities, 'notify'> {
  return {
    async notify(input) {
      deps.log(`review ${input.event}`, {
        changeId: input.changeId,
        pending: input.pending.length,
        deadlineAt: input.deadlineAt,
      });
      for (const channel of input.channels) {
        const webhook = deps.webhooks.get(channel);
        if (webhook !== undefined) await deliver(webhook, input, deps.now());
      }
    },
  };
}

async function deliver(webhook: Webhook, input: NotifyInput, at: Date): Promise<void> {
  const { channels: _channels, ...notice } = input;
  const body = JSON.stringify(notice);
  const id = `${input.changeId}:${input.event}:${input.deadlineAt ?? ''}`;
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = createHmac('sha256', webhook.secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const response = await post(webhook.url, headers, body);
  if (!response.ok) throw undelivered(`the webhook returned HTTP status ${response.status}`);
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    throw undelivered(error instanceof Error ? error.message : String(error));
  }
}

function undelivered(why: string): CountersignFailure {
  return CountersignFailure.retryable(`Cannot deliver a notice: ${why}`, FailureType.Backend);
}
