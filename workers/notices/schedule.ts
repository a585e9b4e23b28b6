import type { NoticeEvent } from '../../storage/notices/notices';
import type { TeamSettings } from './settings';

/** A group that must answer violations of a review. */
interface AskedTeam {
  readonly team: string;
  readonly since: Date;
  /** Whether one of them waits for it now. */
  readonly waits: boolean;
}

/** A notice of one group that is due now. `to`: the group that is notified. */
export interface DueEvent {
  readonly event: Exclude<NoticeEvent, 'ended'>;
  readonly n: number;
  readonly team: string;
  readonly to: string;
}

/** A confirmation that was taken back is noticed within this time. */
const CONFIRMED_MS = 10 * 60_000;

/**
 * What is due for the groups of one review that wait at `now`, and when to look again; null: not before the review ends. A group that has
 * confirmed everything is looked at again as well: a confirmation can be taken back, or its key revoked. Of several reminders that were
 * missed only the last is due. Events that were sent before are listed again: the store adds each once.
 */
export function schedule(
  asked: readonly AskedTeam[],
  settings: ReadonlyMap<string, TeamSettings>,
  now: Date,
): { readonly due: readonly DueEvent[]; readonly nextLookAt: Date | null } {
  const due: DueEvent[] = [];
  const later: number[] = [];
  for (const { team, since, waits } of asked) {
    const own = settings.get(team);
    if (own === undefined) continue;
    const { remindEveryMs, escalate } = own;
    if (!waits) {
      if (remindEveryMs !== null || escalate !== null) later.push(now.getTime() + CONFIRMED_MS);
      continue;
    }
    due.push({ event: 'waiting', n: 0, team, to: team });
    const waited = Math.max(0, now.getTime() - since.getTime());
    if (remindEveryMs !== null) {
      const reminders = Math.floor(waited / remindEveryMs);
      if (reminders > 0) due.push({ event: 'reminder', n: reminders, team, to: team });
      later.push(since.getTime() + (reminders + 1) * remindEveryMs);
    }
    if (escalate !== null) {
      const { afterMs, to } = escalate;
      if (waited >= afterMs) due.push({ event: 'escalation', n: 0, team, to });
      else later.push(since.getTime() + afterMs);
    }
  }
  return { due, nextLookAt: later.length === 0 ? null : new Date(Math.min(...later)) };
}
