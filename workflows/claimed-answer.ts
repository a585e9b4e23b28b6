import { base64 } from '@scure/base';
import { readJson } from '../policy/text/json-text';
import { decodeUtf8 } from '../policy/text/utf8';
import { clip } from '../policy/text/cut-text';
import { plainLine } from '../policy/text/plain-line';
import { valueAt } from '../policy/contracts/issues';
import { KEY_ID } from './message-bounds';

/**
 * What an answer says before the activity `admitAnswer` verifies it. Only for the Temporal UI: person, decision and violation are
 * claims of the sender, and the signature is not checked.
 */
export interface Claim {
  readonly violationId: string | null;
  /** `bob: reject sql_affected_rows`. At most 80 UTF-16 code units. */
  readonly text: string;
}

/** What a claim is compared with, to write names instead of digests. */
export interface ClaimNames {
  /** Person by key id. */
  readonly keyOwners: Readonly<Record<string, string>>;
  readonly violations: readonly { readonly violationId: string; readonly validatorId: string }[];
}

/** Answers of a message that are read; more are only counted. */
const MAX_READ = 20;
/** In base64. An answer with the longest reason has about 17,000. */
const MAX_PAYLOAD = 24_000;
const MAX_NAME = 24;
/** With the rest of the summary under the server's limit of 400 bytes, also in characters of three bytes and encrypted. */
const MAX_CLAIM = 80;

/** The claims of the first answers of a message, in their order. Never throws. */
export function claimsOf(message: unknown, names: ClaimNames): Claim[] {
  const answers = valueAt(message, ['answers']);
  return Array.isArray(answers) ? answers.slice(0, MAX_READ).map((answer) => claimOf(answer, names)) : [];
}

/** The summary of the activity that verifies the message, fixed before its result is known: `bob: reject sql_affected_rows, to be verified`. */
export function claimSummary(message: unknown, names: ClaimNames): string {
  const answers = valueAt(message, ['answers']);
  const [first] = claimsOf(message, names);
  if (first === undefined || !Array.isArray(answers)) return 'a message without answers, to be verified';
  const more = answers.length > 1 ? ` and ${answers.length - 1} more` : '';
  return `${clip(first.text, MAX_CLAIM - more.length)}${more}, to be verified`;
}

function claimOf(answer: unknown, { keyOwners, violations }: ClaimNames): Claim {
  const payload = valueAt(answer, ['payload']);
  const said = typeof payload === 'string' ? predicateOf(payload) : answer;
  const decision = valueAt(said, ['decision']);
  if (decision !== 'confirm' && decision !== 'reject' && decision !== 'retract')
    return { violationId: null, text: 'an answer that cannot be read' };
  const keyId = valueAt(answer, KEY_ID);
  const owner = typeof keyId === 'string' ? valueAt(keyOwners, [keyId]) : undefined;
  const signer = owner ?? `key ${plainLine(keyId, 8)}`;
  const actor = typeof payload === 'string' ? signer : valueAt(said, ['actor']);
  const violationId = valueAt(said, ['violationId']);
  const known = violations.find((violation) => violation.violationId === violationId);
  const what = known?.validatorId ?? `violation ${plainLine(violationId, 12)}`;
  return {
    violationId: typeof violationId === 'string' ? violationId : null,
    text: clip(`${plainLine(actor, MAX_NAME)}: ${decision} ${plainLine(what, MAX_CLAIM)}`, MAX_CLAIM),
  };
}

function predicateOf(payload: string): unknown {
  if (payload.length > MAX_PAYLOAD) return undefined;
  const text = decodeUtf8(bytesOfBase64(payload));
  const read = text === null ? null : readJson(text, 20);
  return read?.ok === true ? valueAt(read.value, ['predicate']) : undefined;
}

/** Tolerant: other characters and the bits of an incomplete byte are skipped. The activity decodes strictly. */
function bytesOfBase64(text: string): Uint8Array {
  const letters = text.replace(/[^A-Za-z0-9+/]/g, '');
  const groups = letters.padEnd(Math.ceil(letters.length / 4) * 4, 'A');
  return base64.decode(groups).subarray(0, Math.floor((letters.length * 3) / 4));
}
