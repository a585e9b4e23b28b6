import { applyWaivers, type PlanWaiver, type WaiverContext } from '../../../policy/decide/waivers';
import type { ValidatorFinding } from '../../../policy/contracts/finding';
import { deepFreeze } from '../../../policy/rules/deep-freeze';

const finding = (id: string, more: Partial<ValidatorFinding> = {}): ValidatorFinding => ({
  validator_id: id,
  phase: 'preflight',
  class: 'POLICY',
  status: 'BLOCK',
  reason: 'no WHERE',
  reasonCode: 'no_where',
  evidenceRefs: ['diff:x#L1:C1-L1:C2'],
  logic_hash: '0'.repeat(64),
  ...more,
});
const waiver = (more: Partial<PlanWaiver> = {}): PlanWaiver => ({
  id: 'w',
  validatorId: 'guardian.a',
  reason: 'OPS-7',
  expiresAt: '2027-01-01T00:00:00Z',
  scope: { tenants: ['acme'] },
  ...more,
});
const CONTEXT: WaiverContext = {
  tenant: 'acme',
  target: 'shop',
  sourceTool: 'SQLDryRun',
  requester: 'dana',
  inputSha: 'a'.repeat(64),
};
const BEFORE = '2026-12-31T23:59:59.999Z';

const apply = (
  waivers: PlanWaiver[],
  findings = [finding('guardian.a'), finding('guardian.b')],
  context = CONTEXT,
  at = BEFORE,
) => applyWaivers({ waivers }, deepFreeze(findings), context, at);

test('a waived finding becomes ALLOW, keeps its position and content, and is counted separately', () => {
  const report = apply([waiver()]);
  expect(report.findings).toEqual([
    {
      ...finding('guardian.a'),
      status: 'ALLOW',
      reasonCode: 'waived',
      details: {
        waiver: {
          id: 'w',
          reason: 'OPS-7',
          expiresAt: '2027-01-01T00:00:00Z',
          status: 'BLOCK',
          reasonCode: 'no_where',
        },
      },
    },
    finding('guardian.b'),
  ]);
  expect(report).toMatchObject({ applied: [{ waiverId: 'w', validatorId: 'guardian.a' }], expired: [] });
});

test('a waiver is valid before its expiry, not at it, and is then reported as expired', () => {
  for (const at of ['2027-01-01T00:00:00Z', '2027-01-01T00:00:00.000Z', '2030-01-01T00:00:00Z', 'not a time']) {
    const report = apply([waiver()], undefined, undefined, at);
    expect(report.findings[0]?.status).toBe('BLOCK');
    expect(report).toMatchObject({ applied: [], expired: ['w'] });
  }
  expect(apply([waiver({ expiresAt: 'never' })]).findings[0]?.status).toBe('BLOCK');
});

test('a waiver that has nothing to waive changes no finding, and is not reported for the change', () => {
  for (const status of ['ALLOW', 'SKIPPED'] as const) {
    const given = [finding('guardian.a', { status })];
    expect(apply([waiver()], given)).toEqual({ findings: given, applied: [], expired: [] });
    expect(apply([waiver({ expiresAt: '2020-01-01T00:00:00Z' })], given)).toMatchObject({ expired: [] });
  }
});

test('an ERROR is never waived', () => {
  const error = finding('guardian.a', { errorClass: 'ErrTimeout' });
  expect(apply([waiver()], [error])).toMatchObject({ findings: [error], applied: [], expired: [] });
});

test.each([
  [{ tenants: ['other'] }, false],
  [{ targets: ['shop'] }, true],
  [{ targets: ['lab'] }, false],
  [{ sourceTools: ['SQLDryRun'] }, true],
  [{ sourceTools: ['GitPatch'] }, false],
  [{ requesters: ['dana'] }, true],
  [{ requesters: ['eve'] }, false],
  [{ inputs: ['a'.repeat(64)] }, true],
  [{ inputs: ['b'.repeat(64)] }, false],
  [{ tenants: ['acme'], requesters: ['eve'] }, false],
  [{}, false],
  [{ anything: ['acme'] }, false],
  [{ tenants: 'acme' }, false],
])('the scope %j matches this change: %s', (scope, matches) => {
  expect(apply([waiver({ scope: scope as never })]).findings[0]?.status).toBe(matches ? 'ALLOW' : 'BLOCK');
});

test('an unknown requester matches no list of requesters', () => {
  expect(
    apply([waiver({ scope: { requesters: ['dana'] } })], undefined, { ...CONTEXT, requester: null }).findings[0]
      ?.status,
  ).toBe('BLOCK');
});
