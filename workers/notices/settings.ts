/**
 * The file that COUNTERSIGN_NOTICES_FILE names: who is notified, and how. Every address that a notice is sent to comes from this
 * file, never from a change.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../client/errors';
import { Name } from '../../policy/contracts/diff';
import { Duration, toMs } from '../../policy/contracts/duration';
import { SubjectId } from '../../policy/contracts/subject-id';
import { ConfigError } from '../config-error';
import { readJson } from '../json-file';

const Path = z.string().min(1);
const Address = z.email().max(254);
const HttpUrl = z.url({ protocol: /^https?$/ });

const Webhook = z.strictObject({ type: z.literal('webhook'), url: HttpUrl, secretFile: Path });
/** The URL of an incoming webhook is a secret, so it is in a file. */
const Slack = z.strictObject({ type: z.literal('slack'), urlFile: Path });
const Email = z.strictObject({
  type: z.literal('email'),
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535).default(587),
  /** `implicit`: from the first byte. `starttls`: required before anything is sent. `none`: only for a relay on a trusted network. */
  tls: z.enum(['implicit', 'starttls', 'none']).default('starttls'),
  from: Address,
  user: z.string().min(1).optional(),
  passwordFile: Path.optional(),
});
const Channel = z.discriminatedUnion('type', [Webhook, Slack, Email]);

const Team = z.strictObject({
  channels: z.array(Name).min(1).max(20),
  remindEvery: Duration.optional(),
  escalate: z.strictObject({ after: Duration, to: Name }).optional(),
});

const File = z
  .strictObject({
    /** Where the inbox is served; each notice links to it. */
    inbox: HttpUrl,
    channels: z.record(Name, Channel),
    people: z.record(SubjectId, z.strictObject({ email: Address })).default({}),
    /** By name of the group in the policy. */
    groups: z.record(Name, Team),
    /** Mail and chat messages to one receiver are at least this far apart; what becomes due between them is sent as one message. */
    digestEvery: Duration.default('5m'),
    /** Exact addresses of private networks that channels may use. All others are refused. */
    privateAddresses: z
      .array(z.union([z.ipv4(), z.ipv6()]))
      .max(20)
      .default([]),
  })
  .superRefine(({ channels, groups }, context) => {
    const addIssue = (path: PropertyKey[], message: string): void =>
      context.addIssue({ code: 'custom', path, message });
    for (const [name, { channels: named, escalate }] of Object.entries(groups)) {
      for (const channel of named)
        if (!Object.hasOwn(channels, channel))
          addIssue(['groups', name, 'channels'], `expected one of the members of "channels", got "${channel}"`);
      if (escalate !== undefined && !Object.hasOwn(groups, escalate.to))
        addIssue(['groups', name, 'escalate', 'to'], `expected another member of "groups", got "${escalate.to}"`);
    }
  });

export type ChannelSettings =
  | { readonly type: 'webhook'; readonly url: string; readonly secret: string }
  | { readonly type: 'slack'; readonly url: string }
  | (Omit<z.infer<typeof Email>, 'passwordFile' | 'user'> & {
      readonly login: { readonly user: string; readonly pass: string } | null;
    });

export interface TeamSettings {
  readonly channels: readonly string[];
  readonly remindEveryMs: number | null;
  readonly escalate: { readonly afterMs: number; readonly to: string } | null;
}

export interface NoticeSettings {
  readonly inbox: string;
  readonly channels: ReadonlyMap<string, ChannelSettings>;
  readonly emailOf: ReadonlyMap<string, string>;
  readonly teams: ReadonlyMap<string, TeamSettings>;
  readonly digestMs: number;
  readonly privateAddresses: readonly string[];
}

/** Null without a file. Throws ConfigError that names the member; values of secrets are never printed. */
export function readNotices(path: string | undefined): NoticeSettings | null {
  if (path === undefined) return null;
  const file = readJson(path, File);
  const secretIn = (name: string): string => readSecret(resolve(dirname(path), name), path);
  const channels = Object.entries(file.channels).map(
    ([name, channel]) => [name, withSecrets(channel, secretIn)] as const,
  );
  return {
    inbox: file.inbox.endsWith('/') ? file.inbox : `${file.inbox}/`,
    channels: new Map(channels),
    emailOf: new Map(Object.entries(file.people).map(([person, { email }]) => [person, email])),
    teams: new Map(
      Object.entries(file.groups).map(([name, { channels: named, remindEvery, escalate }]) => [
        name,
        {
          channels: named,
          remindEveryMs: remindEvery === undefined ? null : toMs(remindEvery),
          escalate: escalate === undefined ? null : { afterMs: toMs(escalate.after), to: escalate.to },
        },
      ]),
    ),
    digestMs: toMs(file.digestEvery),
    privateAddresses: file.privateAddresses,
  };
}

/** The files of secrets that the file of notices names, relative to it. */
export function noticeSecrets(path: string): readonly string[] {
  const { channels } = readJson(path, File);
  return Object.values(channels).flatMap((channel) => {
    switch (channel.type) {
      case 'webhook':
        return channel.secretFile;
      case 'slack':
        return channel.urlFile;
      case 'email':
        return channel.passwordFile ?? [];
      default:
        return channel satisfies never;
    }
  });
}

function withSecrets(channel: z.infer<typeof Channel>, secretIn: (name: string) => string): ChannelSettings {
  switch (channel.type) {
    case 'webhook': {
      const secret = secretIn(channel.secretFile);
      if (secret.length < 16)
        throw new ConfigError(`${channel.secretFile}: expected a secret of at least 16 characters`);
      return { type: 'webhook', url: channel.url, secret };
    }
    case 'slack': {
      const url = HttpUrl.safeParse(secretIn(channel.urlFile));
      if (!url.success) throw new ConfigError(`${channel.urlFile}: expected the URL of an incoming webhook`);
      return { type: 'slack', url: url.data };
    }
    case 'email': {
      const { user, passwordFile, ...rest } = channel;
      if ((user === undefined) !== (passwordFile === undefined))
        throw new ConfigError(`Channel to ${channel.host}: expected both user and passwordFile, or neither`);
      const login = user === undefined || passwordFile === undefined ? null : { user, pass: secretIn(passwordFile) };
      return { ...rest, login };
    }
    default:
      return channel satisfies never;
  }
}

function readSecret(path: string, settings: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`${settings}: ${messageOf(error)}`);
  }
}
