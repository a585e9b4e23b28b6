import { canonicalJson, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { fromBase64, toBase64 } from '../../../policy/evidence/base64';
import { evidenceChecksum, type EvidenceBundle } from '../../../policy/evidence/bundle';

type Row = EvidenceBundle['rows'][number];
type Forgery = (bundle: EvidenceBundle) => EvidenceBundle;

/** What a gateway, or anyone between it and the page, may write into the evidence of a review whose change updates all customers. */
const FORGERIES: Readonly<Record<string, Forgery>> = {
  'the bytes are those of a harmless change': (bundle) => ({ ...bundle, bytes: text('select 1') }),
  'one byte differs': (bundle) => ({ ...bundle, bytes: flipped(bundle.bytes ?? '') }),
  'the bytes and their digest are replaced': (bundle) => ({
    ...bundle,
    bytes: text('select 1'),
    submission: bundle.submission === null ? null : { ...bundle.submission, diffSha: '0'.repeat(64) },
  }),
  'a row before the change is another one': (bundle) => ({
    ...bundle,
    preview: edited(bundle.preview, 'Lagos', 'Nowhere'),
  }),
  'a row after the change is another one': (bundle) => ({
    ...bundle,
    preview: edited(bundle.preview, 'spring credit', 'harmless'),
  }),
  'fewer rows would be changed': (bundle) => ({ ...bundle, staging: edited(bundle.staging, '2000', '2') }),
  'the dry run is left out': (bundle) => ({ ...bundle, staging: null }),
  'a finding is milder': (bundle) => ({ ...bundle, findings: edited(bundle.findings, 'BLOCK', 'WARN') }),
  'a finding is left out': (bundle) => ({ ...bundle, findings: bundle.findings.slice(1) }),
  'the reason of a finding is another one': (bundle) => ({
    ...bundle,
    findings: bundle.findings.map((finding) => ({ ...finding, reason: 'Nothing to see here' })),
  }),
  'a disclosed violation is milder': (bundle) => inRow(bundle, 'disclosed', 'BLOCK', 'WARN'),
  'a disclosed violation is left out': (bundle) =>
    ofRows(bundle, ({ row, hash }) =>
      row.kind === 'disclosed' && Array.isArray(row.body['violations'])
        ? { hash, row: { ...row, body: { ...row.body, violations: row.body['violations'].slice(1) } } }
        : { row, hash },
    ),
  'a disclosed violation has another id': (bundle) =>
    ofRows(bundle, ({ row, hash }) =>
      row.kind === 'disclosed'
        ? { hash, row: { ...row, body: edited(row.body, String(firstViolation(row.body)), 'f'.repeat(64)) } }
        : { row, hash },
    ),
  'the fingerprint is another one': (bundle) =>
    ofRows(bundle, ({ row, hash }) =>
      row.kind === 'disclosed'
        ? { hash, row: { ...row, body: { ...row.body, fingerprint: 'e'.repeat(64) } } }
        : { row, hash },
    ),
  'the agent claims something else': (bundle) => ({
    ...bundle,
    submission: bundle.submission === null ? null : { ...bundle.submission, metadata: { table_name: 'orders' } },
  }),
  'the target is another one': (bundle) => ({
    ...bundle,
    submission: bundle.submission === null ? null : { ...bundle.submission, target: 'repo' },
  }),
  'another group may answer': (bundle) => ({ ...bundle, policy: edited(bundle.policy, '"bob"', '"mallory"') }),
  'one confirmation less is needed': (bundle) => ({
    ...bundle,
    policy: edited(bundle.policy, '"quorum":1', '"quorum":0'),
  }),
  'the signature of the policy is another one': (bundle) => ({
    ...bundle,
    policy: bundle.policy === null ? null : { ...bundle.policy, revision: resigned(bundle.policy.revision) },
  }),
  'the policy is left out': (bundle) => ({ ...bundle, policy: null }),
  'the keys are left out': (bundle) => ({ ...bundle, keys: [] }),
  'a registration has another signature': (bundle) => ({
    ...bundle,
    keys: bundle.keys.map((key) =>
      'entry' in key ? { ...key, entry: resigned(key.entry) } : { ...key, passkey: resigned(key.passkey) },
    ),
  }),
  'a row is left out': (bundle) => ({ ...bundle, rows: bundle.rows.filter((_, n) => n !== 1) }),
  'two rows are exchanged': (bundle) => ({
    ...bundle,
    rows: [...bundle.rows.slice(0, 1), ...bundle.rows.slice(1).toReversed()],
  }),
  'the review is another one': (bundle) => ({ ...bundle, changeId: 'd'.repeat(64) }),
  'a receipt is invented': (bundle) => {
    const last = bundle.rows.at(-1);
    const envelope = bundle.policy?.revision ?? null;
    if (last === undefined || envelope === null) return bundle;
    const row: Row = { ...last, row: { ...last.row, kind: 'receipt', body: { envelope, explanation: 'Committed' } } };
    return { ...bundle, receipt: envelope, rows: [...bundle.rows, row] };
  },
};

/** By name; the checksum of each is correct. A forgery that changes nothing throws, because it would test nothing. */
export function forgeries(): readonly (readonly [string, Forgery])[] {
  return Object.entries(FORGERIES).map(([name, forge]) => [
    name,
    (bundle) => {
      const forged = forge(bundle);
      if (canonicalJson(forged) === canonicalJson(bundle)) throw new Error(`"${name}" does not change this bundle`);
      return { ...forged, sha256: evidenceChecksum(forged) };
    },
  ]);
}

function text(content: string): string {
  return toBase64(new TextEncoder().encode(content));
}

function flipped(base64: string): string {
  const bytes = fromBase64(base64);
  if (bytes === null) throw new TypeError(`Expected base64, got ${base64.slice(0, 40)}`);
  return toBase64(bytes.map((byte, n) => (n === 0 ? byte ^ 1 : byte)));
}

/** The first occurrence, in canonical JSON. */
function edited<T>(value: T, from: string, to: string): T {
  return JSON.parse(canonicalJson(value as JsonValue).replace(from, to)) as T;
}

function ofRows(bundle: EvidenceBundle, change: (row: Row) => Row): EvidenceBundle {
  return { ...bundle, rows: bundle.rows.map(change) };
}

function inRow(bundle: EvidenceBundle, kind: string, from: string, to: string): EvidenceBundle {
  return ofRows(bundle, ({ row, hash }) => ({
    hash,
    row: row.kind === kind ? { ...row, body: edited(row.body, from, to) } : row,
  }));
}

function firstViolation(body: JsonObject): JsonValue {
  const [first] = body['violations'] as readonly JsonObject[];
  return first?.['violationId'] ?? '';
}

function resigned<E extends { readonly signatures: readonly { readonly keyid: string; readonly sig: string }[] }>(
  envelope: E,
): E {
  return { ...envelope, signatures: envelope.signatures.map(({ keyid, sig }) => ({ keyid, sig: flipped(sig) })) };
}
