import { canonicalJson, type JsonValue } from '../../../policy/contracts/canonical-json';
import { toBase64 } from '../../../policy/evidence/base64';
import { evidenceChecksum, type EvidenceBundle } from '../../../policy/evidence/bundle';

type Forgery = (bundle: EvidenceBundle) => EvidenceBundle;

/** What a gateway, or anyone between it and the page, may write into the evidence of a review whose change updates all customers. */
const FORGERIES: Readonly<Record<string, Forgery>> = {
  'the bytes are those of a harmless change': (bundle) => ({
    ...bundle,
    bytes: toBase64(new TextEncoder().encode('select 1')),
  }),
  'a row after the change is another one': (bundle) => ({
    ...bundle,
    preview: edited(bundle.preview, 'spring credit', 'harmless'),
  }),
  'a disclosed violation is milder': (bundle) => ({
    ...bundle,
    rows: bundle.rows.map(({ row, hash }) => ({
      hash,
      row: row.kind === 'disclosed' ? { ...row, body: edited(row.body, 'BLOCK', 'WARN') } : row,
    })),
  }),
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

/** The first occurrence, in canonical JSON. */
function edited<T>(value: T, from: string, to: string): T {
  return JSON.parse(canonicalJson(value as JsonValue).replace(from, to)) as T;
}
