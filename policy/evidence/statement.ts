/**
 * Signed statements: in-toto Statement v1 in canonical JSON.
 *
 * S1 A payload is accepted only if its bytes equal the canonical JSON of the parsed statement. This refuses duplicate keys,
 *    other spellings of a number, members that the schema would drop and defaults that it would add.
 * S2 Kind and subject are derived from the predicate: an answer cannot be read as a receipt or with another subject.
 */
import type { z } from 'zod';
import { AnswerPredicate } from '../contracts/answer';
import { AttestedPredicate } from '../contracts/attested';
import { canonicalJson, canonicalJsonOrNull, isJsonObject, type JsonObject } from '../contracts/canonical-json';
import { sha256HexOfText, type Sha256 } from '../contracts/hash';
import { ReceiptPredicate } from '../contracts/outcome';
import { jsonOf } from '../text/json-of';
import { decodeUtf8 } from '../text/utf8';
import {
  BreakerReset,
  ChangeHead,
  Checkpoint,
  EffectResolution,
  Enrollment,
  KeyEntry,
  KeyRevocation,
  PasskeyEnrollment,
  PolicyRevision,
  PolicyRevocation,
  SubmissionPredicate,
  SupersedePredicate,
  TargetFreeze,
  WithdrawPredicate,
} from './predicates';

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';

/** The predicate schema of each kind of statement. The kind is part of `predicateType`. */
export const PREDICATES = {
  submission: SubmissionPredicate,
  answer: AnswerPredicate,
  withdraw: WithdrawPredicate,
  supersede: SupersedePredicate,
  attested: AttestedPredicate,
  receipt: ReceiptPredicate,
  'policy-revision': PolicyRevision,
  'policy-revocation': PolicyRevocation,
  key: KeyEntry,
  'key-revocation': KeyRevocation,
  enrollment: Enrollment,
  'passkey-enrollment': PasskeyEnrollment,
  checkpoint: Checkpoint,
  'change-head': ChangeHead,
  'effect-resolution': EffectResolution,
  'breaker-reset': BreakerReset,
  'target-freeze': TargetFreeze,
} as const;
export type StatementKind = keyof typeof PREDICATES;
export type PredicateOf<K extends StatementKind> = z.infer<(typeof PREDICATES)[K]>;

export interface Subject {
  readonly name: string;
  readonly digest: { readonly sha256: Sha256 };
}

export interface Statement<K extends StatementKind = StatementKind> {
  readonly _type: typeof STATEMENT_TYPE;
  readonly subject: readonly Subject[];
  readonly predicateType: string;
  readonly predicate: PredicateOf<K>;
}

export type StatementRefusal = 'not_utf8' | 'not_json' | 'not_canonical' | 'wrong_kind' | 'invalid_statement';
export type ParsedStatement<K extends StatementKind> =
  | { readonly ok: true; readonly statement: Statement<K> }
  | { readonly ok: false; readonly code: StatementRefusal; readonly message: string };

const SUBJECTS: { readonly [K in StatementKind]: (p: PredicateOf<K>) => readonly (readonly [string, Sha256])[] } = {
  submission: (p) => [['input', p.inputSha]],
  answer: (p) => [
    ['change', p.changeId],
    ['violation', p.violationId],
  ],
  withdraw: (p) => [['change', p.changeId]],
  supersede: (p) => [
    ['change', p.changeId],
    ['by', p.by],
  ],
  attested: (p) => [['input', p.inputSha]],
  receipt: (p) => [['diff', p.diffSha]],
  'policy-revision': (p) => [['bundle', p.bundleSha]],
  'policy-revocation': (p) => [['bundle', p.bundleSha]],
  key: (p) => [['key', p.keyId]],
  'key-revocation': (p) => [['key', p.keyId]],
  enrollment: (p) => [['key', p.keyId]],
  'passkey-enrollment': (p) => [
    ['enrollment', p.enrollmentSha],
    ['key', p.keyId],
  ],
  checkpoint: (p) => [['root', p.rootHash]],
  'change-head': (p) => [
    ['change', p.changeId],
    ['row', p.hash],
  ],
  'effect-resolution': (p) => [['change', p.changeId]],
  'breaker-reset': (p) => [['breakers', sha256HexOfText(`${p.tenant}/${p.sourceTool}`)]],
  'target-freeze': (p) => [['target', sha256HexOfText(p.target)]],
};

const SIGNERS: { readonly [K in StatementKind]: (p: PredicateOf<K>) => string } = {
  submission: (p) => p.keyId,
  answer: (p) => p.keyId,
  withdraw: (p) => p.keyId,
  supersede: (p) => p.keyId,
  attested: (p) => p.keyId,
  receipt: (p) => p.keyId,
  'policy-revision': (p) => p.keyId,
  'policy-revocation': (p) => p.keyId,
  key: (p) => p.operatorKeyId,
  'key-revocation': (p) => p.operatorKeyId,
  enrollment: (p) => p.operatorKeyId,
  'passkey-enrollment': (p) => p.enrollmentKeyId,
  checkpoint: (p) => p.keyId,
  'change-head': (p) => p.keyId,
  'effect-resolution': (p) => p.keyId,
  'breaker-reset': (p) => p.keyId,
  'target-freeze': (p) => p.keyId,
};

export function predicateType(kind: StatementKind): string {
  return `https://countersign.dev/${kind}/v1`;
}

/** The key id that the predicate claims as its signer. The verifier compares it with the key that signed. */
export function signerOf<K extends StatementKind>(kind: K, predicate: PredicateOf<K>): string {
  return SIGNERS[kind](predicate);
}

/** Builds a statement. Throws TypeError naming the invalid member, so that only a statement that can be parsed is signed. */
export function statementOf<K extends StatementKind>(kind: K, predicate: PredicateOf<K>): Statement<K> {
  const parsed = PREDICATES[kind].safeParse(predicate);
  if (!parsed.success) throw new TypeError(`Not a valid ${kind} statement: ${problems(parsed.error)}`);
  if (canonicalJson(parsed.data) !== canonicalJson(predicate))
    throw new TypeError(`Not a valid ${kind} statement: it has unknown members or lacks defaults`);
  return buildStatement(kind, predicate);
}

/** The exact text whose UTF-8 bytes are signed. */
export function statementText(statement: Statement): string {
  return canonicalJson(statement);
}

/** Parses a statement of one kind from the bytes of a payload. Never throws. */
export function parseStatement<K extends StatementKind>(kind: K, payload: Uint8Array): ParsedStatement<K> {
  const refuse = (code: StatementRefusal, message: string): ParsedStatement<K> => ({ ok: false, code, message });
  const text = decodeUtf8(payload);
  if (text === null) return refuse('not_utf8', 'the payload is not UTF-8');
  const value = jsonOf(text);
  if (value === undefined) return refuse('not_json', 'the payload is not JSON');
  const read = readStatement(kind, value, text);
  if (read !== null) return { ok: true, statement: read };
  // The payload is invalid. Find the reason, starting with the outermost structure.
  if (canonicalJsonOrNull(value) !== text)
    return refuse('not_canonical', 'the payload is not canonical JSON (RFC 8785)');
  const type = isJsonObject(value) ? value['predicateType'] : undefined;
  if (type !== predicateType(kind))
    return refuse('wrong_kind', `expected predicateType ${predicateType(kind)}, got ${shown(type)}`);
  const parsed = PREDICATES[kind].safeParse((value as JsonObject)['predicate']);
  if (!parsed.success) return refuse('invalid_statement', problems(parsed.error));
  return refuse('invalid_statement', '_type, subject or a member differs from what the predicate says');
}

/** The statement of this kind whose canonical JSON is `text` (S1, S2). Null for any other text. */
function readStatement<K extends StatementKind>(kind: K, value: unknown, text: string): Statement<K> | null {
  if (typeof value !== 'object' || value === null || !('predicate' in value)) return null;
  const parsed = PREDICATES[kind].safeParse(value.predicate);
  if (!parsed.success) return null;
  const statement = buildStatement(kind, parsed.data as PredicateOf<K>);
  return canonicalJsonOrNull(statement) === text ? statement : null;
}

function buildStatement<K extends StatementKind>(kind: K, predicate: PredicateOf<K>): Statement<K> {
  const subject = SUBJECTS[kind](predicate).map(([name, sha256]) => ({ name, digest: { sha256 } }));
  return { _type: STATEMENT_TYPE, subject, predicateType: predicateType(kind), predicate };
}

function problems(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join('.') || 'predicate'}: ${issue.message}`)
    .join('; ');
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : typeof value;
}
