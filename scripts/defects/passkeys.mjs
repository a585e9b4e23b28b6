import { LEDGER, never, schema } from './names.mjs';

const passkey = 'signing/passkey.ts';
const enrollment = 'signing/enrollment.ts';
const SIGNED = ['test/signing/passkey.test.ts'];
const ENROLLED = ['test/signing/enrollment.test.ts'];
const LINKS = ['test/storage/keys/enrollments.slow.test.ts'];
const SCHEMES = ['test/signing/verify-signature.test.ts'];

export const DEFECTS = [
  {
    name: 'take the assertion of a passkey for statements that it does not name',
    through: 'an answer that no one signed, under the signature of another one',
    file: passkey,
    ...never('!passkey.statements.includes(sha256Hex(signed)))'),
    tests: SIGNED,
  },
  {
    name: 'skip the challenge of a passkey',
    through: 'a login, or an answer to another question, used as an answer',
    file: passkey,
    ...never('given !== toBase64Url(challenge))'),
    tests: SIGNED,
  },
  {
    name: 'skip the origin of a passkey',
    through: 'an answer that another page of the same site asked for',
    file: passkey,
    from: ' || !origins.includes(origin))',
    to: ')',
    tests: SIGNED,
  },
  {
    name: 'accept a passkey used in an embedded page',
    through: 'an answer that a page around ours framed',
    file: passkey,
    from: 'if (crossOrigin !== false || topOrigin !== undefined)',
    to: 'if (topOrigin !== undefined)',
    tests: SIGNED,
  },
  {
    name: 'skip the relying party of a passkey',
    through: 'an assertion for another site',
    file: passkey,
    ...never('!rpIdHash.every((byte, i) => data[i] === byte))'),
    tests: SIGNED,
  },
  {
    name: 'accept a passkey without user verification',
    through: 'an answer of anyone with an unlocked device',
    file: passkey,
    ...never('(flags & FLAGS.userVerified) === 0)'),
    tests: SIGNED,
  },
  {
    name: 'accept a passkey that was not touched',
    through: 'an answer without a person',
    file: passkey,
    ...never('(flags & FLAGS.userPresent) === 0)'),
    tests: SIGNED,
  },
  {
    name: 'accept a registration of a passkey as an assertion',
    through: 'a statement hidden in the making of a passkey',
    file: passkey,
    ...never("type !== 'webauthn.get')"),
    tests: SIGNED,
  },
  {
    name: 'let a passkey sign any statement',
    through: 'submissions, receipts and policies signed with an approver key',
    file: 'signing/verify-envelope.ts',
    ...never('!PASSKEY_KINDS.has(kind))'),
    tests: SIGNED,
  },
  {
    name: 'ignore the assertion beside the signature of an Ed25519 key in place of a passkey',
    through: 'two envelopes for one signature',
    file: 'signing/verify-envelope.ts',
    ...never('opened.passkey !== null)'),
    tests: SIGNED,
  },
  {
    name: 'skip the curve of a passkey',
    through: 'a public key of small order, which has signed everything',
    file: enrollment,
    ...never('problem !== null)'),
    tests: ENROLLED,
  },
  {
    name: 'enrol a passkey with any link of the same one-time key',
    through: 'rights of another link',
    file: enrollment,
    ...never('named.enrollmentSha !== enrollmentSha)'),
    tests: ENROLLED,
  },
  {
    name: 'enrol a passkey without the signature of an operator',
    through: 'an approver whom the gateway or a database writer made',
    file: enrollment,
    from: "const enrollment = signedByOperator('enrollment', envelope, operators, storedAt);\n  const opened = openEnvelope('enrollment', envelope);",
    to: "const opened = openEnvelope('enrollment', envelope);\n  const enrollment = opened.ok ? opened.statement.predicate : signedByOperator('enrollment', envelope, operators, storedAt);",
    tests: ENROLLED,
  },
  {
    name: 'enrol a passkey with an expired link',
    through: 'a link that was found long after',
    file: 'storage/keys/key-reader.ts',
    from: ' || enrolledAt.getTime() > Date.parse(expiresAt))',
    to: ')',
    tests: LINKS,
  },
  {
    name: 'let the gateway choose the time of an enrolled passkey',
    through: 'a link that was used after it had expired',
    file: 'storage/database/key-tables-sql.ts',
    from: 'new.added_at := clock_timestamp();',
    to: '',
    tests: LINKS,
  },
  {
    name: 'keep a passkey after its link was revoked',
    through: 'a passkey of the wrong person',
    file: 'storage/keys/key-envelopes.ts',
    from: 'r.key_id in (known.key_id, known.link)',
    to: 'r.key_id = known.key_id',
    tests: LINKS,
  },
  {
    name: 'accept any counter of a passkey',
    through: 'answers of a copied authenticator',
    file: schema,
    from: 'where excluded.counter > c.counter or excluded.counter = c.counter and (c.counter = 0 or c.assertion = excluded.assertion);',
    to: 'where true;',
    tests: LEDGER,
  },
  {
    name: 'accept a second encoding of a signature of a passkey',
    through: 'signatures that verifiers judge differently',
    file: 'signing/curve-points.ts',
    ...never('first === 0 && (length === 1 || (second & 0x80) === 0))'),
    tests: SCHEMES,
  },
];
