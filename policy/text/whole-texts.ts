import type { Span } from '../contracts/facts';
import type { DiffText } from '../contracts/source-tool';
import { asStaged, decodeLossy, spanner, withoutJsonEscapes } from './text-view';

/** The bytes as one text, and a second time with the escapes of JSON strings decoded if there are any. */
export function wholeTexts(raw: Uint8Array): DiffText[] {
  const text = decodeLossy(raw);
  const spanOf = spanner(text);
  const decoded = withoutJsonEscapes(asStaged(text));
  const plain: DiffText = { side: 'added', text, spanOf };
  if (decoded === null) return [plain];
  const through = (start: number, end: number): Span =>
    spanOf(decoded.toStaged(start), decoded.toStaged(Math.max(start, end - 1)) + 1);
  return [plain, { side: 'added', text: decoded.text, spanOf: through }];
}
