import { sha256HexOfText } from '../../policy/contracts/hash';
import type { ClaimedNotice, NoticeQueue, NoticeStore } from '../../storage/notices/notices';
import { inParallel } from '../in-parallel';
import type { Logger } from '../logger';
import { undelivered, type Delivery } from './channels/delivery';
import { sendEmail } from './channels/email';
import { sendSlack } from './channels/slack';
import { sendWebhook } from './channels/webhook';
import { NoticeBody } from './message';
import type { ChannelSettings, NoticeSettings } from './settings';

/** Attempts of one notice, over about four hours. */
export const MAX_ATTEMPTS = 10;
export const FIRST_RETRY_S = 30;
export const MAX_RETRY_S = 3600;
const MAX_QUEUES = 100;
/** Notices of one message to a person or a chat. */
const MAX_DIGEST = 200;
/** Queues that are worked on at the same time. */
const AT_ONCE = 4;
/** Requests to one webhook in a pass, one after the other. */
const MAX_REQUESTS = 4;
/** No queue is begun later in a pass: nothing is planned during it. */
const PASS_MS = 10_000;

export interface DeliveryDeps {
  readonly store: NoticeStore;
  readonly settings: NoticeSettings;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly now: () => Date;
  /** What became of notices in one attempt to send them. */
  readonly count: (channel: string, result: 'sent' | 'retried' | 'failed', count: number) => void;
}

/**
 * Sends what is due. Receivers that are slow or down delay those of other channels by little more than PASS_MS and a time-out: the others of
 * their channel wait for the next passes. After `stopping` aborts, no further queue is begun.
 */
export async function deliverNotices(deps: DeliveryDeps, stopping: AbortSignal): Promise<void> {
  const { store, settings } = deps;
  await store.dropEnded();
  // Messages to one person or chat are apart, and what became due between them is sent as one.
  const except = [...settings.channels].filter(([, { type }]) => type === 'webhook').map(([name]) => name);
  const queues = await store.dueQueues(MAX_QUEUES, { apartMs: settings.digestMs, except });
  const until = deps.now().getTime() + PASS_MS;
  await inParallel(queues, AT_ONCE, async (queue) => {
    if (!stopping.aborted && deps.now().getTime() < until) await deliverQueue(deps, queue);
  });
}

async function deliverQueue(deps: DeliveryDeps, queue: NoticeQueue): Promise<void> {
  const { store, settings } = deps;
  const channel = settings.channels.get(queue.channel);
  const claimed = await store.claim(queue, channel?.type === 'webhook' ? MAX_REQUESTS : MAX_DIGEST);
  if (claimed.length === 0) return;
  if (channel === undefined)
    return record(deps, claimed, undelivered(`the notices file has no channel "${queue.channel}"`, true));
  const readable: ReadNotice[] = [];
  for (const notice of claimed) {
    const body = bodyOf(notice);
    // Not for good: during an upgrade, a worker of the later version can send it.
    if (body === null) await record(deps, [notice], undelivered('this version cannot read the notice'));
    else readable.push({ ...notice, read: body });
  }
  if (readable.length === 0) return;
  if (channel.type !== 'webhook') return record(deps, readable, await send(deps, channel, readable));
  for (const notice of readable) await record(deps, [notice], await send(deps, channel, [notice]));
}

interface ReadNotice extends ClaimedNotice {
  readonly read: NoticeBody;
}

/** Null if it cannot be read, for example because a later version wrote it. */
function bodyOf({ body }: ClaimedNotice): NoticeBody | null {
  try {
    return NoticeBody.parse(JSON.parse(body));
  } catch {
    return null;
  }
}

async function send(
  { settings, now }: DeliveryDeps,
  channel: ChannelSettings,
  claimed: readonly ReadNotice[],
): Promise<Delivery> {
  const notices = claimed.map(({ read }) => read);
  const [first] = claimed;
  if (first === undefined) return undelivered('nothing to send', true);
  // Stable for these notices only: a mail server may drop a second message with the same id, also if it contains more notices.
  const id =
    claimed.length === 1 ? `notice-${first.id}` : `notices-${sha256HexOfText(idsOf(claimed).join()).slice(0, 32)}`;
  const context = { inbox: settings.inbox, privateAddresses: settings.privateAddresses, now: now() };
  switch (channel.type) {
    case 'webhook':
      return sendWebhook(channel, { id, notice: first.read }, context);
    case 'slack':
      return sendSlack(channel, notices, context);
    case 'email':
      return sendEmail(channel, first.recipient, { id, notices }, context);
    default:
      return channel satisfies never;
  }
}

async function record(
  { store, logger, count }: DeliveryDeps,
  claimed: readonly ClaimedNotice[],
  delivery: Delivery,
): Promise<void> {
  const channel = claimed[0]?.channel ?? '';
  if (delivery.ok) {
    await store.sent(idsOf(claimed));
    count(channel, 'sent', claimed.length);
    logger.info({ channel, notices: claimed.length }, 'Notices were sent');
    return;
  }
  // What was claimed together need not have failed equally often.
  for (const attempts of new Set(claimed.map((notice) => notice.attempts))) {
    const notices = claimed.filter((notice) => notice.attempts === attempts);
    const last = delivery.permanent || attempts >= MAX_ATTEMPTS;
    const retryInS = last ? null : Math.min(MAX_RETRY_S, FIRST_RETRY_S * 2 ** (attempts - 1));
    await store.notSent(idsOf(notices), delivery.why, retryInS);
    count(channel, last ? 'failed' : 'retried', notices.length);
    const facts = { channel, notices: notices.length, problem: delivery.why, attempts, last };
    logger.warn(facts, 'Notices could not be sent');
  }
}

function idsOf(notices: readonly ClaimedNotice[]): readonly string[] {
  return notices.map(({ id }) => id);
}
