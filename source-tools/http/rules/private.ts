import { z } from 'zod';
import { allowedHosts, coversHost, formatPointer, httpRule, request } from './define-http-rule';
import type { Reach, Transfer, Write } from '../facts/http-facts';
import { isPrivateName } from '../facts/private-names';
import { DISPUTED_HOST } from '../facts/url';
import { pointerOf, tokensOf } from '../../../policy/text/json-pointer';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';

export const privateCopy = httpRule({
  name: 'http_private_copy',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A copy or move can take a secret to a location that more readers see, and a test shows whether a guess of it is right.',
  examples: {
    bad: request({ body: [{ op: 'copy', from: '/private/api_key', path: '/note' }] }),
    good: request({ body: [{ op: 'copy', from: '/billing/address', path: '/shipping/address' }] }),
  },
  find: ({ transfers, writes }) => [...transfers.flatMap(takenBy), ...writes.flatMap(guessedBy)],
});

function takenBy({ how, from, to, below, complete, at }: Transfer): readonly Hit[] {
  if (to.some(isPrivateName)) return [];
  const what = `${how} of ${formatPointer(pointerOf(from))} to ${formatPointer(pointerOf(to))}`;
  if (from.length === 0) return [{ at, what: `${what} takes every member` }];
  if (!complete) return [{ at, what: `${what} takes more members than can be listed` }];
  const name = from.find(isPrivateName) ?? below.find(isPrivateName);
  return name === undefined ? [] : [{ at, what: `${what} takes ${shown(name.slice(0, 100))}` }];
}

function guessedBy({ how, pointer, at }: Write): readonly Hit[] {
  if (how !== 'test' || !(tokensOf(pointer) ?? []).some(isPrivateName)) return [];
  return [{ at, what: `test of ${formatPointer(pointer)} shows whether a guess is right` }];
}

/** Parts of the names of members that a server calls or sends data to. */
const CALLED = wordList(`
  webhook callback hook endpoint notif redirect forward upstream proxy target destination remote fetch source import
  mirror server host origin url uri link
`);

function isCalled(name: string): boolean {
  const lower = name.toLowerCase();
  return CALLED.some((part) => lower.includes(part));
}

const REACHED: Readonly<Record<Exclude<Reach, 'public'>, string>> = {
  loopback: 'the server itself',
  private: 'a private network',
  link_local: 'a link-local address',
  metadata: 'the metadata service of a cloud provider',
  reserved: 'a reserved address range',
  local_name: 'an internal name',
};

export const privateLink = httpRule({
  name: 'http_private_link',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A server that calls a webhook or loads an import reaches addresses that the author of the request cannot reach.',
  config: z.strictObject({
    allowHosts: allowedHosts('Internal hosts that a value may name, in canonical form; *.host for all its subdomains.'),
  }),
  examples: {
    bad: request({ body: [{ op: 'replace', path: '/webhook_url', value: 'http://169.254.169.254/latest/meta-data' }] }),
    good: request({ body: [{ op: 'replace', path: '/homepage', value: 'https://www.example.com/' }] }),
  },
  find: ({ links }, { allowHosts }) =>
    links.flatMap(({ name, at, url, hasScheme }): readonly Hit[] => {
      const called = isCalled(name);
      const place = name === '' ? 'a value' : shown(name.slice(0, 100));
      if (url === null) return called ? [{ at, what: `${place} is a URL that cannot be parsed` }] : [];
      const { reach, host, scheme } = url;
      if (hasScheme && (scheme === 'file' || (called && !WEB.has(scheme))))
        return [{ at, what: `${place} uses the scheme ${shown(scheme)}` }];
      const disputed = called && url.anomalies.find((anomaly) => DISPUTED_HOST.has(anomaly));
      if (disputed) return [{ at, what: `${place} contains ${disputed}` }];
      if (reach === 'public' || coversHost(allowHosts, host)) return [];
      // Texts and device addresses also name internal hosts. A server reaches them only through a member that it calls.
      if (!called && (!hasScheme || reach === 'local_name')) return [];
      return [{ at, what: `${place} names ${shown(host.slice(0, 253))}, which is ${REACHED[reach]}` }];
    }),
});

const WEB = new Set(['http', 'https', 'ws', 'wss']);
