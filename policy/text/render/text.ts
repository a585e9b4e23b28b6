import type { DiffRenderer } from '../../contracts/source-tool';
import { plainBorders, splitLines } from './source-lines';

/** Renders any text unchanged. A piece may start after an empty line. */
export const textRenderer: DiffRenderer = {
  name: 'text',
  revision: 1,
  language: 'text',
  render: (text) => {
    const lines = splitLines(text);
    if (lines === null) return null;
    const starts = (): number[] =>
      lines.flatMap((line, i) => (i > 0 && lines[i - 1]?.text.trim() === '' && line.text.trim() !== '' ? [i] : []));
    return { lines, borders: () => plainBorders(new Set([0, ...starts()])) };
  },
};
