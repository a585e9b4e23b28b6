import type { ValidatorInput } from '../define';
import type { Facts } from '../../contracts/facts';
import { textsOf, type DiffText } from '../text/diff-texts';
import { scanText, type Scan } from './scan';

/** A text of the diff with what was found in it. */
export interface ScannedText extends DiffText {
  readonly scan: Scan;
}

const scans = new WeakMap<Facts, { readonly diffSha: string; readonly texts: readonly ScannedText[] }>();

/** The texts of a diff, scanned: once for all rules of a review. */
export function scannedTexts(input: Pick<ValidatorInput, 'diff' | 'facts'>): readonly ScannedText[] {
  const { diff, facts } = input;
  const known = scans.get(facts);
  if (known !== undefined && known.diffSha === diff.diffSha) return known.texts;
  const texts = textsOf(input).map((text) => ({ ...text, scan: scanText(text.text) }));
  scans.set(facts, { diffSha: diff.diffSha, texts });
  return texts;
}
