import { isIP } from 'node:net';
import { messageOf } from '../../../client/errors';
import { ConfigError } from '../../config-error';
import { subject, textLines, type NoticeBody } from '../message';
import { resolvePublic } from '../public-address';
import type { ChannelSettings } from '../settings';
import { DELIVERED, undelivered, type Delivery } from './delivery';

const TIMEOUT_MS = 10_000;
/** The whole delivery: the other time-out begins anew with each byte. */
const MAX_MS = 60_000;

interface EmailContext {
  readonly inbox: string;
  readonly privateAddresses: readonly string[];
  /** Default MAX_MS. */
  readonly withinMs?: number;
}

/** Loaded on demand, because only a review worker with a mail channel needs it. */
const loadMailer = (): Promise<typeof import('nodemailer')> => import('nodemailer');

/** Throws ConfigError if a channel sends mail and the library cannot be loaded: otherwise its notices would be given up later. */
export async function assertMailer(channels: ReadonlyMap<string, Pick<ChannelSettings, 'type'>>): Promise<void> {
  const [name] = [...channels].find(([, { type }]) => type === 'email') ?? [];
  if (name === undefined) return;
  try {
    await loadMailer();
  } catch (error) {
    throw new ConfigError(
      `Channel "${name}" of the notices file sends mail, but the package nodemailer cannot be loaded: ${messageOf(error)}. Install the dependencies of Countersign again`,
    );
  }
}

/** One plain text message to one person. The message id is stable, so that a mail server can drop a repeated delivery. */
export async function sendEmail(
  channel: Extract<ChannelSettings, { readonly type: 'email' }>,
  to: string,
  message: { readonly id: string; readonly notices: readonly NoticeBody[] },
  { inbox, privateAddresses, withinMs = MAX_MS }: EmailContext,
): Promise<Delivery> {
  const { host, port, tls, from, login } = channel;
  try {
    const { createTransport } = await loadMailer();
    const transport = createTransport({
      host: await resolvePublic(host, privateAddresses),
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      // The certificate must be for the configured host, although the connection goes to its address.
      tls: isIP(host) === 0 ? { servername: host } : {},
      ...(login === null ? {} : { auth: login }),
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    await transport.sendMail({
      from,
      to: { name: '', address: to },
      subject: subject(message.notices),
      text: textLines(message.notices, inbox).join('\n'),
      messageId: `<${message.id}@${from.split('@')[1] ?? 'countersign'}>`,
      headers: { 'auto-submitted': 'auto-generated' },
      signal: AbortSignal.timeout(withinMs),
    });
    return DELIVERED;
  } catch (error) {
    return undelivered(messageOf(error), isPermanent(error));
  }
}

/**
 * A reply of the class 5 refuses for good (RFC 5321, 4.2.1), except to a login and to STARTTLS (RFC 3207), which an operator can
 * correct.
 */
function isPermanent(error: unknown): boolean {
  const { responseCode, code } = error as { readonly responseCode?: unknown; readonly code?: unknown };
  return typeof responseCode === 'number' && responseCode >= 500 && code !== 'EAUTH' && code !== 'ETLS';
}
