import type { JsonValue } from '../../../policy/contracts/canonical-json';
import { wordList } from '../../../policy/text/word-list';

/** Names of settings that switch something off while they are on. */
const NEGATIVE = /^(?:allows?|disable|skip|suppress|exclude|ignore|opt_out|no)_|(?:^|_)disabled$/;
/** Names of settings that expose a resource while they are on, and of those that do not although they have such a word. */
const EXPOSING =
  /public|anonymous|unauthenticated|legacy|non_ssl|preview|privileged|shared_access_key|direct_internet|(?:^|_)admin_enabled|^ipv4_enabled/;
const NOT_EXPOSING = /block|restrict|prevent|private|deny|disallow|forbid|protect|^disable_|^ignore_|^no_|_disabled$/;
/** Settings whose name says that they switch off what exposes a resource. */
const CLOSING = /^(?:disable|ignore|no)_(?:password|local|public|legacy)|(?:password|local|public|legacy)\w*_disabled$/;
const EXPOSED = new Set(wordList('true on yes enabled enable public all'));
const OFF = new Set([
  '',
  ...wordList(`
    0 none off disabled disable inactive false no suspended paused optional allow accept detection inherited http advisory
    ignore skip privileged mutable not_signing free allow-all allow_all ingress_traffic_all
    allow_unencrypted_and_encrypted
  `),
]);

/** Whether the value of a member means that what it controls is off. Null: the value does not say. */
export function isOff(name: string, value: JsonValue): boolean | null {
  if (value === null) return true;
  if (EXPOSING.test(name) && !NOT_EXPOSING.test(name)) return isExposed(value);
  if (typeof value === 'boolean') return NEGATIVE.test(name) && !CLOSING.test(name) ? value : !value;
  if (typeof value === 'string') return OFF.has(value.toLowerCase());
  if (typeof value === 'number') return null;
  return Object.keys(value).length === 0;
}

/** The same for a setting that exposes a resource while it is on. */
function isExposed(value: JsonValue): boolean | null {
  const text = typeof value === 'boolean' || typeof value === 'string' ? String(value).toLowerCase() : null;
  if (text === null) return null;
  return EXPOSED.has(text) ? true : OFF.has(text) ? false : null;
}
