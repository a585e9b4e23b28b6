import { messageOf } from '../../client/errors';
import { counted } from '../../policy/text/counted';
import type { Plan } from '../../policy/contracts/plan';
import { FIRST_RETRY_S, MAX_RETRY_S } from '../../workers/notices/deliver-notices';
import { readNotices, type NoticeSettings } from '../../workers/notices/settings';
import { failed, passed, type Check } from './check';
import { databaseFix, withDoctorDatabase } from './doctor-database';
import type { ConfiguredProcess } from './processes';

const FILE = 'COUNTERSIGN_NOTICES_FILE';

/** The file of notices against the groups of the policy: a notice to a group that nothing names, or to a person without an address, is not sent. */
export function checkNotices(path: string | undefined, plans: readonly Pick<Plan, 'groups'>[]): readonly Check[] {
  let settings: NoticeSettings | null;
  try {
    settings = readNotices(path);
  } catch (error) {
    return [failed('notices', messageOf(error), `Correct the file that ${FILE} of the review worker names`)];
  }
  return settings === null ? [] : compared(settings, plans);
}

function compared({ teams, channels, emailOf }: NoticeSettings, plans: readonly Pick<Plan, 'groups'>[]): Check[] {
  const members = membersByGroup(plans);
  const escalatedTo = new Set(
    [...teams].flatMap(([name, { escalate }]) => (members.has(name) && escalate !== null ? escalate.to : [])),
  );
  const checks: Check[] = [];
  for (const [name, team] of teams) {
    const people = members.get(name);
    const mails = team.channels.some((channel) => channels.get(channel)?.type === 'email');
    if (people === undefined) {
      // Escalation reaches the channels of a group that is not in the policy, but mail goes to members.
      const sent = escalatedTo.has(name);
      if (sent && !mails) continue;
      const lost = sent ? 'no mail reaches it' : 'its notices are not sent';
      const fix = `Correct "groups" in the file that ${FILE} names, or publish a policy with this group`;
      checks.push(failed(`notices to ${name}`, `no policy has this group, so ${lost}`, fix));
      continue;
    }
    if (!mails) continue;
    const missing = [...people].filter((person) => !emailOf.has(person)).sort();
    if (missing.length > 0)
      checks.push(
        failed(
          `notices to ${name}`,
          `no address for ${missing.join(', ')}, so no mail reaches them`,
          `Add them to "people" in the file that ${FILE} names`,
        ),
      );
  }
  const silent = [...members.keys()].filter((group) => !teams.has(group)).sort();
  const without = silent.length === 0 ? '' : `; none to ${silent.join(', ')}`;
  return [...checks, passed('notices', `${counted(teams.size, 'group')}${without}`)];
}

function membersByGroup(plans: readonly Pick<Plan, 'groups'>[]): Map<string, Set<string>> {
  const members = new Map<string, Set<string>>();
  for (const { groups } of plans)
    for (const [name, group] of Object.entries(groups))
      members.set(name, new Set([...(members.get(name) ?? []), ...group.members]));
  return members;
}

/** Attempts to send a notice: after three, it is late by minutes. */
const MIN_ATTEMPTS = 3;
const MAX_NAMED = 5;

/** A type, because the driver asks for an index signature. */
type Unsent = {
  readonly channel: string;
  readonly recipient: string;
  readonly count: string;
  readonly given_up: boolean;
  readonly problem: string | null;
  /** Receivers, also those that are not named. */
  readonly receivers: string;
};

/** Notices of the last week that have not reached their receiver, to which none was sent since their last attempt. */
const UNSENT = `
with unsent as (
  select channel, recipient, state, problem,
         next_at - case when state = 'due' then least(${MAX_RETRY_S}, ${FIRST_RETRY_S} * 2 ^ (least(attempts, 20) - 1)) else 0 end * interval '1 second' as tried_at
  from notices
  where created_at > now() - interval '7 days' and (state = 'failed' or state = 'due' and attempts >= ${MIN_ATTEMPTS})
)
select n.channel, n.recipient, count(*) as count, bool_or(n.state = 'failed') as given_up,
       (array_agg(n.problem order by n.tried_at desc))[1] as problem, count(*) over () as receivers
from unsent n
where not exists (select from notices s where s.state = 'sent' and s.channel = n.channel and s.recipient = n.recipient and s.sent_at > n.tried_at)
group by n.channel, n.recipient order by n.channel, n.recipient limit ${MAX_NAMED}`;

/** Notices that were not sent. Only the role of the review worker may read them. */
export async function checkDelivery(
  processes: readonly Pick<ConfiguredProcess, 'role' | 'databaseUrl'>[],
): Promise<readonly Check[]> {
  const reviewWorker = processes.find(({ role }) => role === 'cs_review');
  if (reviewWorker === undefined) return [];
  try {
    const { rows } = await withDoctorDatabase(reviewWorker.databaseUrl, (db) => db.query<Unsent>(UNSENT));
    const more = Number(rows[0]?.receivers ?? 0) - rows.length;
    return [...rows.map(unsentCheck), ...(more > 0 ? [moreCheck(more)] : [])];
  } catch (error) {
    return [failed('notices', messageOf(error), databaseFix(error, 'the database URL of the review worker'))];
  }
}

function unsentCheck({ channel, recipient, count, given_up, problem }: Unsent): Check {
  const what = `${counted(Number(count), 'notice')}${recipient === '' ? '' : ` to ${recipient}`}`;
  const became = given_up ? (count === '1' ? 'was given up' : 'were given up') : 'could not be sent yet';
  return failed(
    `notices by ${channel}`,
    `${what} ${became}: ${problem ?? 'the review worker ended while it sent them'}`,
    `Correct this channel in the file that ${FILE} names, or its receiver. Notices that were given up are not sent again; reminders are`,
  );
}

function moreCheck(receivers: number): Check {
  const fix = 'Correct what is named above, and run it again';
  return failed('notices', `notices to ${counted(receivers, 'more receiver')} were not sent`, fix);
}
