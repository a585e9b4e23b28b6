import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '../contracts/canonical-json';
import { Envelope, type PasskeyAssertion } from '../contracts/diff';
import { sha256HexOfText, type Sha256 } from '../contracts/hash';
import { deepFreeze } from '../rules/deep-freeze';
import { fromBase64, toBase64 } from './base64';
import { RecentValues } from '../text/recent-values';
import {
  parseStatement,
  statementText,
  type ParsedStatement,
  type Statement,
  type StatementKind,
  type StatementRefusal,
} from './statement';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/** DSSE v1 pre-authentication encoding (PAE): the bytes that a signature covers. Lengths are in bytes. */
export function pae(payloadType: string, payload: Uint8Array): Uint8Array {
  const type = utf8ToBytes(payloadType);
  return concatBytes(utf8ToBytes(`DSSEv1 ${type.length} `), type, utf8ToBytes(` ${payload.length} `), payload);
}

/** Creates the envelope of a statement. `sign` signs the pre-authentication encoding; its result is not verified. */
export function toEnvelope(statement: Statement, keyid: string, sign: (signed: Uint8Array) => Uint8Array): Envelope {
  const payload = utf8ToBytes(statementText(statement));
  const sig = sign(pae(PAYLOAD_TYPE, payload));
  return { payloadType: PAYLOAD_TYPE, payload: toBase64(payload), signatures: [{ keyid, sig: toBase64(sig) }] };
}

export type EnvelopeRefusal = 'malformed' | StatementRefusal;

/** A parsed envelope whose signature is not verified yet. Use only `keyid`, to find the key, before verifying it. */
export type OpenedEnvelope<K extends StatementKind> =
  | {
      readonly ok: true;
      /** Deeply frozen. */
      readonly statement: Statement<K>;
      /** The bytes that the signature must cover. */
      readonly signed: Uint8Array;
      readonly signature: Uint8Array;
      readonly keyid: string;
      /** What a passkey signed besides the statement; null if an Ed25519 key signed. */
      readonly passkey: PasskeyAssertion | null;
    }
  | { readonly ok: false; readonly code: EnvelopeRefusal; readonly message: string };

/**
 * Parses an envelope of one kind strictly: strict base64, canonical payload and exactly one signature, because a second one
 * would not be verified. Never throws and does not verify the signature.
 */
export function openEnvelope<K extends StatementKind>(kind: K, value: unknown): OpenedEnvelope<K> {
  const malformed = (message: string): OpenedEnvelope<K> => ({ ok: false, code: 'malformed', message });
  const envelope = Envelope.safeParse(value);
  if (!envelope.success) return malformed('not a DSSE envelope {payloadType, payload, signatures: [{keyid, sig}]}');
  const { payloadType, signatures } = envelope.data;
  const [only, ...more] = signatures;
  if (only === undefined || more.length > 0)
    return malformed(`expected exactly one signature, got ${signatures.length}`);
  if (payloadType !== PAYLOAD_TYPE) return malformed(`expected payloadType ${PAYLOAD_TYPE}`);
  const signature = fromBase64(only.sig);
  const read = signature === null ? null : readPayload(kind, envelope.data.payload);
  if (signature === null || read === null) return malformed('payload or signature is not strict base64');
  if (!read.ok) return read;
  const { statement, signed } = read;
  const { keyid, passkey = null } = only;
  return { ok: true, statement, signed: signed.slice(), signature, keyid, passkey };
}

interface ReadPayload<K extends StatementKind> {
  readonly ok: true;
  readonly kind: K;
  readonly statement: Statement<K>;
  readonly signed: Uint8Array;
}

/** By payload in base64. Of 2 MB of payloads, which take about 10 MB with what was read from them. */
const readPayloads = new RecentValues<ReadPayload<StatementKind>>({ entries: 2000, length: 2 * 1024 * 1024 });

/**
 * The statement in a payload, and the bytes that a signature must cover; null if it is not strict base64. Memoized, because each process
 * reads a statement several times, and the same registry entries and policy revision in each review. Both depend on the payload only, and
 * whether it is signed is not decided here.
 */
function readPayload<K extends StatementKind>(
  kind: K,
  text: string,
): ReadPayload<K> | (ParsedStatement<K> & { readonly ok: false }) | null {
  const known = readPayloads.get(text);
  if (known?.kind === kind) return known as ReadPayload<StatementKind> as ReadPayload<K>;
  const payload = fromBase64(text);
  if (payload === null) return null;
  const parsed: ParsedStatement<K> = parseStatement(kind, payload);
  if (!parsed.ok) return parsed;
  const read: ReadPayload<K> = {
    ok: true,
    kind,
    statement: deepFreeze(parsed.statement),
    signed: pae(PAYLOAD_TYPE, payload),
  };
  readPayloads.set(text, read as ReadPayload<StatementKind>);
  return read;
}

/** Digest of an envelope or of an unsigned answer, for detecting duplicates. Throws if the message is not JSON. */
export function messageDigest(message: unknown): Sha256 {
  return sha256HexOfText(canonicalJson(message));
}
