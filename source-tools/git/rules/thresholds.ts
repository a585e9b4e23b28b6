import { wordList } from '../../../policy/text/word-list';
import type { Hit } from '../../../policy/rules/hit';
import { atLine } from './define-git-rule';
import type { FileView } from './patch-view';

const THRESHOLD = wordList(
  'branches functions lines statements fail_under threshold cov-fail-under target minimum coverage break low high minmsi',
);

/** Names that also occur inside other words, such as `slow: 5` or `linebreak: 2`. */
const WITHIN_WORDS = new Set(['low', 'high', 'break', 'lines', 'target']);

/** Hits for thresholds that decrease or are removed. */
export function loweredThresholds(view: FileView): Hit[] {
  const { file } = view;
  if (!view.contains('-', THRESHOLD)) return [];
  // The lowest one: another line with the name can be a comment.
  const added = new Map<string, number>();
  for (const [name, value] of view.lines('+').flatMap((line) => thresholdsIn(line.text)))
    added.set(name, Math.min(value, added.get(name) ?? value));
  return view.lines('-').flatMap((line) =>
    thresholdsIn(line.text).flatMap(([name, before]) => {
      const after = added.get(name);
      if (after === undefined) return before > 0 ? [atLine(file, line, `the threshold "${name}" is removed`)] : [];
      return after < before ? [atLine(file, line, `the threshold "${name}" decreases from ${before} to ${after}`)] : [];
    }),
  );
}

/** Thresholds with a value up to 100, such as `lines: 80`, `fail_under = 90` or `--cov-fail-under=85`. */
function thresholdsIn(text: string): [string, number][] {
  const lower = text.toLowerCase();
  if (lower.length > 2000) return [];
  return THRESHOLD.flatMap((name): [string, number][] => {
    const at = lower.indexOf(name);
    if (at === -1 || (WITHIN_WORDS.has(name) && /[a-z]/.test(lower[at - 1] ?? ''))) return [];
    let i = at + name.length;
    while (i < lower.length && '"\': =>\t'.includes(lower[i] as string)) i++;
    let end = i;
    while (end < lower.length && '0123456789.'.includes(lower[end] as string)) end++;
    const value = Number(lower.slice(i, end));
    return end > i && i > at + name.length && value <= 100 ? [[name, value]] : [];
  });
}
