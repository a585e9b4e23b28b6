import type { DiffText } from '../../contracts/source-tool';
import { memoizeByObject } from '../../text/memoize';
import { scanText, type Scan } from './scan';

/** A text of the diff and its scan. */
export interface ScannedText extends DiffText {
  readonly scan: Scan;
}

/** Scans the texts of a diff. Memoized, so that all rules of a review share one scan. */
export const scannedTexts = memoizeByObject((texts: readonly DiffText[]): readonly ScannedText[] =>
  texts.map((text) => ({ ...text, scan: scanText(text.text) })),
);
