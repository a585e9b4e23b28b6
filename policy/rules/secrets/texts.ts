import type { ValidatorInput } from '../define';
import type { DiffText } from '../../contracts/source-tool';
import { scanText, type Scan } from './scan';

/** A text of the diff and its scan. */
export interface ScannedText extends DiffText {
  readonly scan: Scan;
}

const scans = new WeakMap<readonly DiffText[], readonly ScannedText[]>();

/** Scans the texts of a diff. Memoized, so that all rules of a review share one scan. */
export function scannedTexts({ tool }: Pick<ValidatorInput, 'tool'>): readonly ScannedText[] {
  const { texts } = tool;
  const known = scans.get(texts);
  if (known !== undefined) return known;
  const scanned = texts.map((text) => ({ ...text, scan: scanText(text.text) }));
  scans.set(texts, scanned);
  return scanned;
}
