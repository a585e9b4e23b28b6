import { createHash } from 'node:crypto';
import type { Ledger, LedgerEntry } from '../policy/evidence/ledger-port';
import { throughput } from './measure';

export const PLANS = [1, 2, 3].map((n) => createHash('sha256').update(`plan ${n}`).digest('hex'));
export const GROUPS = ['dba', 'payments', 'platform'] as const;
export const TENANTS = ['acme', 'beta'] as const;
const RULES = ['sql_affected_rows', 'sql_update_without_where', 'secrets_in_text', 'git_protected_paths', 'llm_judge'];
const TOOLS = ['SQLDryRun', 'GitPatch', 'HTTPRequest', 'TerraformPlan'] as const;
const TABLES = ['orders', 'customers', 'invoices', 'payments', 'employees', 'prices'];
const OPEN_AT_ONCE = 16;
/** Each has more than one answer or an end. */
const CLOSED_SHARE = 0.2;

const pick = <T>(list: readonly T[], i: number): T => list[i % list.length] as T;

/** Opens `count` reviews that wait for people, and a fifth as many that have ended, through `ledger_append` as workers do. */
export async function fillReviews(
  ledgers: { readonly review: Ledger; readonly commit: Ledger },
  count: number,
): Promise<void> {
  const closed = Math.floor(count * CLOSED_SHARE);
  await throughput(count + closed, OPEN_AT_ONCE, async (i) => {
    const changeId = createHash('sha256').update(`review ${i}`).digest('hex');
    await open(ledgers.review, changeId, i);
    if (i >= count) await close(ledgers, changeId, i);
  });
}

async function open(ledger: Ledger, changeId: string, i: number): Promise<void> {
  const now = Date.now();
  const at = new Date(now).toISOString();
  const [tenant, sourceTool, table] = [pick(TENANTS, i), pick(TOOLS, i), pick(TABLES, i)];
  const requester = `person-${i % 40}`;
  const identity = { tenant, target: `target-${i % 5}`, sourceTool };
  const envelope = { payloadType: 'x', payload: 'x'.repeat(700), signatures: [{ keyid: `agent-${i % 12}`, sig: 'x' }] };
  const submission = { ...identity, diffSha: changeId, metadata: { explanation: 'x'.repeat(200) }, envelope };
  const entry = (kind: LedgerEntry['kind'], body: LedgerEntry['body']): LedgerEntry => ({
    kind,
    at,
    factKey: kind,
    body,
  });
  const opening = [
    entry('submitted', { submission, inputSha: changeId, requester }),
    entry('planned', { planHash: pick(PLANS, i), revision: 1, mode: 'enforced' }),
  ];
  await ledger.append(changeId, opening, {
    ...identity,
    inputSha: changeId,
    requester,
    mode: 'enforced',
    openedAt: new Date(now - (i % 5_000) * 60_000).toISOString(),
    summary: `UPDATE ${table}: ${i % 900} rows of ${1000 + (i % 7)}`,
  });
  const violations = Array.from({ length: 1 + (i % 3) }, (_, v) => violation(changeId, i, v));
  const findings = RULES.map((rule) => ({ validator_id: `guardian.${rule}`, status: 'WARN', reason: 'x'.repeat(300) }));
  await ledger.append(changeId, [entry('disclosed', { violations, findings, fingerprint: changeId })], {
    state: 'INTERVENTION_REQUIRED',
    pending: violations.length,
    highestSeverity: i % 4 === 0 ? 'BLOCK' : 'WARN',
    deadlineAt: new Date(now + (1 + (i % 5_000)) * 60_000).toISOString(),
  });
}

function violation(changeId: string, i: number, v: number) {
  return {
    violationId: violationId(changeId, v),
    validatorId: `guardian.${pick(RULES, i + v)}`,
    need: 'human',
    group: pick(GROUPS, i + v),
    quorum: 1 + (i % 2),
    fourEyes: true,
  };
}

async function close(
  { review, commit }: { review: Ledger; commit: Ledger },
  changeId: string,
  i: number,
): Promise<void> {
  const at = new Date().toISOString();
  const decision = i % 5 === 0 ? 'reject' : 'confirm';
  const body = { violationId: violationId(changeId, 0), decision, person: pick(['alice', 'bob', 'dave'], i) };
  await review.append(changeId, [{ kind: 'answer_accepted', at, factKey: 'a', body }]);
  const [state, reason] =
    decision === 'confirm' ? (['COMMITTED', null] as const) : (['ROLLED_BACK', 'declined'] as const);
  await commit.append(changeId, [{ kind: 'closed', at, factKey: 'closed', body: { state, reason } }], {
    state,
    reason,
    closedAt: at,
    pending: 0,
  });
}

function violationId(changeId: string, v: number): string {
  return createHash('sha256').update(`${changeId} ${v}`).digest('hex');
}
