import type { ReviewListItem } from '../../api';

/** `in 23 h 12 min`, `in 3 min 20 s`, `passed`. */
export function remainingText(deadlineAt: string, now: number): string {
  const seconds = Math.floor((Date.parse(deadlineAt) - now) / 1000);
  if (seconds <= 0) return 'passed';
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600), Math.floor(seconds / 60)];
  if (days >= 2) return `in ${days} days`;
  if (hours >= 1) return `in ${hours} h ${minutes % 60} min`;
  return minutes >= 10 ? `in ${minutes} min` : `in ${minutes} min ${seconds % 60} s`;
}

/** `5 min ago`, `3 h ago`, `2 days ago`. */
export function agoText(at: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(at)) / 60_000));
  if (minutes < 1) return 'now';
  if (minutes < 120) return `${minutes} min ago`;
  return minutes < 2880 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1440)} days ago`;
}

/** `12 s`, `3 min`, `2.5 h`. */
export function durationText(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** The deadline of a listed review while it waits for people (`pending` violations), otherwise when it was opened. */
export function whenText(
  { state, deadlineAt, openedAt, pending }: Pick<ReviewListItem, 'state' | 'deadlineAt' | 'openedAt' | 'pending'>,
  now: number,
): { readonly at: string; readonly text: string } {
  if (state !== 'INTERVENTION_REQUIRED' || pending === 0 || deadlineAt === null)
    return { at: openedAt, text: `opened ${agoText(openedAt, now)}` };
  const left = remainingText(deadlineAt, now);
  return { at: deadlineAt, text: left === 'passed' ? 'the deadline has passed' : `rolled back ${left}` };
}
