import type { NoticeEvent } from '../../storage/notices/notices';
import type { TeamSettings } from './settings';

/** A group with violations that still wait for it. */
interface WaitingTeam {
  readonly team: string;
  readonly since: Date;
}

/** A notice of one group that is due now. `to`: the group that is notified. */
export interface DueEvent {
  readonly event: Exclude<NoticeEvent, 'ended'>;
  readonly n: number;
  readonly team: string;
  readonly to: string;
}

/**
 * What is due for the waiting groups of one review at `now`, and when to look again; null: not before the review ends. Of several
 * reminders that were missed only the last is due. Events that were sent before are listed again: the store adds each once.
 */
export function schedule(
  waiting: readonly WaitingTeam[],
  settings: ReadonlyMap<string, TeamSettings>,
  now: Date,
): { readonly due: readonly DueEvent[]; readonly nextLookAt: Date | null } {
  const due: DueEvent[] = [];
  const later: number[] = [];
  for (const { team, since } of waiting) {
    const own = settings.get(team);
    if (own === undefined) continue;
    due.push({ event: 'waiting', n: 0, team, to: team });
    const { remindEveryMs, escalate } = own;
    const waited = now.getTime() - since.getTime();
    if (remindEveryMs !== null) {
      const reminders = Math.max(0, Math.floor(waited / remindEveryMs));
      if (reminders > 0) due.push({ event: 'reminder', n: reminders, team, to: team });
      later.push(since.getTime() + (reminders + 1) * remindEveryMs);
    }
    if (escalate !== null) {
      if (waited >= escalate.afterMs) due.push({ event: 'escalation', n: 0, team, to: escalate.to });
      else later.push(since.getTime() + escalate.afterMs);
    }
  }
  return { due, nextLookAt: later.length === 0 ? null : new Date(Math.min(...later)) };
}
