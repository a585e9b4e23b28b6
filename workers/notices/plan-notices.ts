/**
 * Which notices a review needs, from its ledger rows and its signed plan.
 *
 * Nothing depends on notices: a failure here never changes a decision, and a review whose notices all fail waits and expires like any
 * other.
 */
import { TerminalState, RollbackReason } from '../../policy/contracts/outcome';
import type { Plan } from '../../policy/contracts/plan';
import { PolicyViolation } from '../../policy/contracts/violation';
import { stillPending } from '../../policy/decide/decide';
import type { StoredRow } from '../../policy/evidence/chain';
import type { KeyRegistry } from '../../policy/evidence/key-registry';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { answerScopeFromRows } from '../../activities/review/scopes-from-rows';
import { requesterIn, rowOf, submissionIn } from '../../activities/rows';
import { statementsOf, verifyAcceptedAnswers } from '../../signing/verify-answers';
import type { NewNotice, NoticeLook, NoticeStore } from '../../storage/notices/notices';
import type { PlanSource } from '../../storage/plans/plan-source';
import type { NoticeBody } from './message';
import { schedule, type DueEvent } from './schedule';
import type { NoticeSettings } from './settings';

interface PlanningDeps {
  readonly store: NoticeStore;
  readonly ledger: Pick<Ledger, 'read'>;
  readonly plans: Pick<PlanSource, 'byHash'>;
  readonly keys: Pick<KeyRegistry, 'snapshot'>;
  readonly settings: NoticeSettings;
}

/** Adds the notices that are due for one review, and sets when to look again. */
export async function planNotices(deps: PlanningDeps, look: NoticeLook, now: Date): Promise<void> {
  const rows = await deps.ledger.read(look.changeId);
  if (look.closed) return deps.store.planned(look, await endNotices(deps, look.changeId, rows), null);
  const review = await waitingReview(deps, look.changeId, rows, now);
  if (review === null) return deps.store.planned(look, [], new Date(now.getTime() + UNREADABLE_MS));
  const { rulesByTeam, disclosedAt: since } = review;
  const asked = review.asked.map((team) => ({ team, since, waits: rulesByTeam.has(team) }));
  const { due, nextLookAt } = schedule(asked, deps.settings.teams, now);
  const notices = due.flatMap((event) => noticesOf(event, look.changeId, review, deps.settings));
  return deps.store.planned(look, notices, nextLookAt);
}

/** A review whose rows show nothing to wait for yet is looked at again after this time. */
const UNREADABLE_MS = 60_000;

interface WaitingReview {
  readonly plan: Plan;
  readonly tenant: string;
  readonly requester: string | null;
  readonly disclosedAt: Date;
  readonly deadlineAt: string | null;
  /** Groups that must answer violations, also those that have confirmed everything. */
  readonly asked: readonly string[];
  /** Rules with a violation that still waits, by the group that it waits for. */
  readonly rulesByTeam: ReadonlyMap<string, readonly string[]>;
}

async function waitingReview(
  { plans, keys }: PlanningDeps,
  changeId: string,
  rows: readonly StoredRow[],
  now: Date,
): Promise<WaitingReview | null> {
  const disclosed = rowOf(rows, 'disclosed');
  const submission = submissionIn(rows);
  const violations = PolicyViolation.array().safeParse(disclosed?.body['violations']);
  const planHash = rowOf(rows, 'planned')?.body['planHash'];
  if (disclosed === undefined || submission === null || !violations.success || typeof planHash !== 'string')
    return null;
  const { plan } = await plans.byHash(planHash, 'ignored');
  const requester = requesterIn(rows);
  const scope = await answerScopeFromRows(plans, changeId, rows);
  if (scope === null) return null;
  const at = now.toISOString();
  const { find } = await keys.snapshot();
  const verified = verifyAcceptedAnswers({ rows: rows.map(({ row }) => row), scope, keys: find, nonces: null, at });
  const { pending, nextDeadline } = stillPending({
    plan,
    violations: violations.data,
    answers: statementsOf(verified),
    requester,
    disclosedAt: disclosed.at,
    at,
  });
  const known = new Set(plan.validators.map(({ id }) => id));
  // Only groups and rules of the signed plan: the row `disclosed` is not signed.
  const human = violations.data.filter(
    ({ need, validatorId, group }) => need === 'human' && known.has(validatorId) && Object.hasOwn(plan.groups, group),
  );
  const asked = [...new Set(human.map(({ group }) => group))];
  const rulesByTeam = new Map<string, string[]>();
  for (const { violationId, validatorId, group } of human) {
    if (!pending.includes(violationId)) continue;
    const rules = rulesByTeam.get(group) ?? [];
    rulesByTeam.set(group, rules.includes(validatorId) ? rules : [...rules, validatorId]);
  }
  const { tenant } = submission;
  return { plan, tenant, requester, disclosedAt: new Date(disclosed.at), deadlineAt: nextDeadline, asked, rulesByTeam };
}

function noticesOf(
  { event, n, team, to }: DueEvent,
  changeId: string,
  { plan, tenant, requester, deadlineAt, rulesByTeam }: WaitingReview,
  settings: NoticeSettings,
): readonly NewNotice[] {
  const { target, sourceTool } = plan;
  const rules = [...(rulesByTeam.get(team) ?? [])].sort();
  const body: NoticeBody = { event, changeId, tenant, target, sourceTool, team, rules, deadlineAt };
  const people = (plan.groups[to]?.members ?? []).filter((person) => person !== requester);
  const notice = { changeId, event, n, team, body: JSON.stringify(body) };
  return (settings.teams.get(to)?.channels ?? []).flatMap((channel) =>
    recipients(channel, people, settings).map((recipient) => ({ ...notice, channel, recipient })),
  );
}

function recipients(channel: string, people: readonly string[], settings: NoticeSettings): readonly string[] {
  if (settings.channels.get(channel)?.type !== 'email') return [''];
  return people.flatMap((person) => settings.emailOf.get(person) ?? []);
}

/** Channels that were notified of the waiting review are notified of its end, except mail: its next digest would only repeat the inbox. */
async function endNotices(
  { store, settings }: PlanningDeps,
  changeId: string,
  rows: readonly StoredRow[],
): Promise<readonly NewNotice[]> {
  const predicate = rowOf(rows, 'receipt')?.body['predicate'] as Readonly<Record<string, unknown>> | undefined;
  const submission = submissionIn(rows);
  const state = TerminalState.safeParse(predicate?.['state']);
  const reason = RollbackReason.nullable().safeParse(predicate?.['reason'] ?? null);
  if (submission === null || !state.success || !reason.success) return [];
  const { tenant, target, sourceTool } = submission;
  return (await store.notified(changeId))
    .filter(({ channel }) => settings.channels.has(channel) && settings.channels.get(channel)?.type !== 'email')
    .map(({ team, channel, recipient }) => {
      const end = { state: state.data, reason: reason.data };
      const body: NoticeBody = { event: 'ended', changeId, tenant, target, sourceTool, team, ...end };
      return { changeId, event: 'ended', n: 0, team, channel, recipient, body: JSON.stringify(body) };
    });
}
