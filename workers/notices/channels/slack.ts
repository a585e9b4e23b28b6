import { linkTo, MAX_LINES, noticeLine, subject, type NoticeBody } from '../message';
import type { Delivery } from './delivery';
import { post } from './post';

/**
 * A message for a Slack-compatible incoming webhook (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). Text
 * is `plain_text`, in which Slack interprets no mentions and links; the only links are our own. It has no button: a chat account does not
 * prove who answers, so nothing is answered there.
 */
export function slackMessage(notices: readonly NoticeBody[], inbox: string): object {
  const sections = notices.slice(0, MAX_LINES).flatMap((notice) => [
    { type: 'section', text: { type: 'plain_text', text: noticeLine(notice), emoji: false } },
    { type: 'context', elements: [link(linkTo(inbox, notice.changeId), 'Open in the inbox')] },
  ]);
  const more = notices.length - MAX_LINES;
  const rest = more > 0 ? [{ type: 'context', elements: [link(inbox, `${more} more in the inbox`)] }] : [];
  return { text: escaped(subject(notices)), blocks: [...sections, ...rest], unfurl_links: false, unfurl_media: false };
}

export function sendSlack(
  { url }: { readonly url: string },
  notices: readonly NoticeBody[],
  { inbox, privateAddresses }: { readonly inbox: string; readonly privateAddresses: readonly string[] },
): Promise<Delivery> {
  const body = JSON.stringify(slackMessage(notices, inbox));
  return post({ url, headers: { 'content-type': 'application/json' }, body, privateAddresses });
}

function link(url: string, label: string): object {
  return { type: 'mrkdwn', text: `<${url}|${escaped(label)}>` };
}

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
