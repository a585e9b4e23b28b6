import { AnswerMessage, UnsignedAnswer } from '../../../policy/contracts/answer';
import { MAX_METADATA_BYTES, Metadata, Submission } from '../../../policy/contracts/diff';
import {
  HookClass,
  Status,
  ValidatorFinding,
  ValidatorId,
  ValidatorResult,
  ValidatorSignature,
} from '../../../policy/contracts/finding';
import { ReviewOutcome, ReviewState, RollbackReason, TerminalState } from '../../../policy/contracts/outcome';
import { FindingProjection, ReviewStatus, ViolationStatus } from '../../../policy/contracts/status';
import { Severity, Verdict } from '../../../policy/contracts/verdict';
import { PolicyCallbackResult, PolicyViolation } from '../../../policy/contracts/violation';
import { changeEvaluator } from '../../../policy/rules/evaluate';
import { deepFreeze } from '../../../policy/rules/deep-freeze';
import type { ValidatorDefinition, ValidatorInput } from '../../../policy/rules/define';
import { findingOf, planValidator, resultOf } from '../../support/plan';
import { plainTool } from '../../support/source-tools';

const A = 'a'.repeat(64);
const keys = (schema: { readonly shape: object }): string[] => Object.keys(schema.shape).sort();
const refuses = (schema: { safeParse: (v: unknown) => { success: boolean } }, value: unknown): void =>
  expect(schema.safeParse(value).success).toBe(false);

describe('the diff and the verdict', () => {
  test('a diff has a source tool, the digest of its bytes, and arbitrary metadata [F8]', () => {
    const submission = {
      tenant: 't',
      target: 'shop',
      sourceTool: 'HTTPPatch',
      diffSha: A,
      metadata: { tenant: 't', nested: { deep: [1, null, 'x'] } },
    };
    expect(Submission.parse(submission)).toEqual({ ...submission, requestKey: '' });
    refuses(Submission, { ...submission, plan: {} });
    refuses(Submission, { ...submission, diffSha: A.toUpperCase() });
  });
  test('metadata is bounded in bytes, not in characters', () => {
    const fill = (character: string, n: number) => ({ a: character.repeat(n) });
    expect(Metadata.safeParse(fill('x', MAX_METADATA_BYTES - 8)).success).toBe(true);
    refuses(Metadata, fill('x', MAX_METADATA_BYTES));
    refuses(Metadata, fill('\u20ac', MAX_METADATA_BYTES / 2));
    refuses(Metadata, { a: '\ud800' });
  });
  test('a verdict has its seven members, and a score from 0 to 1 [F12, F14]', () => {
    const verdict = {
      approved: true,
      score: 1,
      reason: '',
      severity: '',
      details: {},
      validatorName: 'v',
      policyVersion: '',
    };
    expect(Object.keys(Verdict.parse(verdict)).sort()).toEqual(keys(Verdict));
    for (const member of Object.keys(verdict)) refuses(Verdict, { ...verdict, [member]: undefined });
    for (const score of [-0.1, 1.1, Number.NaN, '1']) refuses(Verdict, { ...verdict, score });
    refuses(Verdict, { ...verdict, approved: 'true' });
  });
  test('severity is warn, block or empty, and no other value [F17]', () =>
    expect(Severity.options).toEqual(['warn', 'block', '']));
});

describe('signature, result and finding', () => {
  test('a signature needs id, version, logic hash and class [G3, G5]', () => {
    const signature = {
      validator_id: 'guardian.a',
      validator_version: 'v1',
      logic_hash: A,
      class: 'POLICY',
      deterministic: true,
    };
    expect(ValidatorSignature.parse(signature)).toEqual(signature);
    for (const member of Object.keys(signature)) refuses(ValidatorSignature, { ...signature, [member]: undefined });
    refuses(ValidatorSignature, { ...signature, logic_hash: 'a'.repeat(40) });
    expect(HookClass.options).toEqual(['SAFETY', 'POLICY']);
  });
  test('ids have the form guardian.<rule> or safety.<rule>, in snake_case [G4]', () => {
    for (const id of ['guardian.conflict_point', 'safety.sql_drop', 'always-approve'])
      expect(ValidatorId.safeParse(id).success).toBe(true);
    for (const id of [
      'conflict_point',
      'Guardian.x',
      'guardian.X',
      'guardian.',
      'guardian..x',
      'guardian.x ',
      '\nguardian.x',
    ])
      refuses(ValidatorId, id);
  });
  test('a result has status, reason, evidence and its id; no phase, no class, no logic hash [G7, G8, G9, T31]', () => {
    expect(Status.options).toEqual(['ALLOW', 'WARN', 'BLOCK']);
    expect(ValidatorResult.parse(resultOf('guardian.a', 'BLOCK'))).toEqual(resultOf('guardian.a', 'BLOCK'));
    for (const member of ['phase', 'class', 'logic_hash', 'changeReason', 'x'])
      refuses(ValidatorResult, { ...resultOf('guardian.a', 'ALLOW'), [member]: 'POLICY' });
    for (const member of ['validator_id', 'status', 'reason'])
      refuses(ValidatorResult, { ...resultOf('guardian.a', 'BLOCK'), [member]: undefined });
  });
  test('WARN and BLOCK need evidence, ALLOW does not [G24, T32]', () => {
    for (const says of ['WARN', 'BLOCK'] as const)
      for (const evidenceRefs of [[], [''], undefined])
        refuses(ValidatorResult, resultOf('guardian.a', says, { evidenceRefs }));
    expect(ValidatorResult.parse({ validator_id: 'guardian.a', status: 'ALLOW', reason: '' })).toMatchObject({
      evidenceRefs: [],
    });
  });
  test('a finding has the members of the result plus phase, class and logic hash, and no others [G10, G14]', () => {
    const [block] = ValidatorResult.options.filter((option) => option.shape.status.value === 'BLOCK');
    expect(keys(ValidatorFinding)).toEqual([...keys(block as never), 'class', 'logic_hash', 'phase'].sort());
    refuses(ValidatorFinding, { ...findingOf(planValidator('guardian.a'), 'ALLOW'), x: 1 });
  });
});

describe('the input of a guardian', () => {
  const received: ValidatorInput[] = [];
  const definition = {
    implementation: 'a',
    reads: ['bytes', 'facts', 'staging'],
    evaluate: (input: ValidatorInput) => (
      received.push(input),
      { validator_id: 'guardian.a', status: 'ALLOW', reason: '', evidenceRefs: [] }
    ),
  } as unknown as ValidatorDefinition;
  const facts = { ok: true, kind: 'x', parser: { name: 'x', version: '1' } } as const;
  const diff = { sourceTool: 'SQLDryRun', raw: new Uint8Array([1]), diffSha: A, metadata: { a: { b: 1 } } };
  beforeAll(
    () =>
      void changeEvaluator({ changeId: A, inputSha: A, diff, facts, tool: plainTool, staging: null })(
        definition,
        planValidator('guardian.a', { config: { limit: { n: 1 } } }),
      ),
  );

  test('contains phase, signature and the change as data, and no function that writes, commits or calls out [G1, G16, T38]', () => {
    const [input] = received;
    expect(Object.keys(input ?? {}).sort()).toEqual([
      'config',
      'diff',
      'facts',
      'inputSha',
      'phase',
      'signature',
      'staging',
      'tool',
    ]);
    const functions = (value: unknown): unknown[] =>
      typeof value === 'function'
        ? [value]
        : typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)
          ? Object.values(value).flatMap(functions)
          : [];
    expect(functions(input)).toEqual([]);
  });
  test('is a frozen copy: a write throws, or changes only the copy [G15, G37, T37]', () => {
    const [input] = received;
    if (input === undefined) throw new Error('not called');
    const { config, diff: copy } = input as ValidatorInput<{ limit: { n: number } }>;
    expect(() => (config.limit.n = 2)).toThrow(TypeError);
    expect(() => ((copy.metadata['a'] as { b: number }).b = 2)).toThrow(TypeError);
    expect(() => Object.assign(copy, { sourceTool: 'x' })).toThrow(TypeError);
    copy.raw[0] = 9;
    expect(diff.raw[0]).toBe(1);
  });
  test.each(['facts', 'staging'] as const)(
    'has no %s if `reads` does not name it: the logic hash would not cover their parser, or the result would depend on the step',
    (member) => {
      const thrown: string[] = [];
      const evaluate = changeEvaluator({
        ...{ changeId: A, inputSha: A, diff, facts, tool: plainTool },
        staging: { record: {} as never, sha: A },
        onThrow: (_id, error) => thrown.push(String(error)),
      });
      const reading = {
        ...definition,
        reads: ['bytes'],
        evaluate: (input: ValidatorInput) => ({ validator_id: 'guardian.a', status: 'ALLOW', reason: input[member] }),
      };
      const result = evaluate(reading as unknown as ValidatorDefinition, planValidator('guardian.a'));
      expect(result).toMatchObject({ status: 'BLOCK', reasonCode: 'validator_threw' });
      expect(thrown).toEqual([`TypeError: ${member}: add "${member}" to the validator's reads`]);
    },
  );
  test('is intact for the next validator after one validator overwrote its bytes [G15, G37, T37]', () => {
    const read: number[] = [];
    const writing = {
      ...definition,
      evaluate: (input: ValidatorInput) => {
        read.push(input.diff.raw[0] as number);
        input.diff.raw[0] = 9;
        read.push(input.diff.raw[0] as number);
        return { validator_id: 'guardian.a', status: 'ALLOW', reason: '', evidenceRefs: [] };
      },
    } as unknown as ValidatorDefinition;
    const evaluate = changeEvaluator({ changeId: A, inputSha: A, diff, facts, tool: plainTool, staging: null });
    for (const id of ['guardian.a', 'guardian.b']) evaluate(writing, planValidator(id));
    expect(read).toEqual([1, 9, 1, 9]);
  });
  test('freezes facts with shared and cyclic references, and terminates [G15, T37]', () => {
    const shared = { name: 'orders' };
    const ring: Record<string, unknown> = { shared, again: Object.freeze([shared]) };
    ring['self'] = ring;
    const frozen = deepFreeze(ring);
    expect(Object.isFrozen(shared)).toBe(true);
    expect(Object.isFrozen(frozen)).toBe(true);
  });
  test('freezes facts and dry run deeply, even if only their root was frozen before: the next validator sees the same values [G15, G37, T37]', () => {
    const seen: ValidatorInput[] = [];
    const spoiling = {
      ...definition,
      evaluate: (input: ValidatorInput) => {
        seen.push(input);
        (input.facts as unknown as { list: { name: string }[] }).list[0]!.name = 'spoilt';
        return { validator_id: 'guardian.a', status: 'ALLOW', reason: '', evidenceRefs: [] };
      },
    } as unknown as ValidatorDefinition;
    const made = Object.freeze({ ...facts, list: [{ name: 'orders' }] });
    const staging = { record: { tables: [{ table: 'orders' }] } as never, sha: A };
    const input = { changeId: A, inputSha: A, diff, facts: made, tool: plainTool, staging };
    expect(changeEvaluator(input)(spoiling, planValidator('guardian.a'))).toMatchObject({
      status: 'BLOCK',
      reasonCode: 'validator_threw',
    });
    expect(made.list).toEqual([{ name: 'orders' }]);
    const tables = seen[0]?.staging?.record.tables as unknown as { table: string }[];
    expect(() => (tables[0]!.table = 'spoilt')).toThrow(TypeError);
    expect(() => tables.push({ table: 'more' })).toThrow(TypeError);
  });
});

describe('policies and answers', () => {
  test('the result of a callback has passed and an optional message, and is never a bare boolean [V1, V2]', () => {
    expect(PolicyCallbackResult.parse({ passed: true })).toEqual({ passed: true, message: null });
    for (const value of [
      true,
      false,
      null,
      {},
      { passed: 'false' },
      { passed: 1 },
      { passed: true, ok: true },
      { passed: true, message: 5 },
    ])
      refuses(PolicyCallbackResult, value);
  });
  test('a violation has policy, message and callback result, which is null without a callback [V3]', () => {
    expect(keys(PolicyViolation)).toEqual(
      expect.arrayContaining(['callbackResult', 'message', 'policyKey', 'requiresConfirmation']),
    );
  });
  test('an outcome has action, reason and violations, but no confirmation message [V4]', () => {
    expect(ReviewOutcome.shape.action.options).toEqual(['COMMIT', 'ROLLBACK']);
    expect(keys(ReviewOutcome)).toEqual(expect.arrayContaining(['action', 'findings', 'reason', 'violations']));
    expect(keys(ReviewOutcome)).not.toContain('confirmationMessage');
  });
  test('an answer is a decision with a reason, and a boolean is refused [V22, T58]', () => {
    const answer = { violationId: A, fingerprint: A, decision: 'reject', reason: 'drops the table', actor: 'ada' };
    expect(AnswerMessage.parse({ answers: [answer] }).answers).toEqual([answer]);
    for (const decision of [true, false, 'true', 'false', 'approve', 'yes', 1, null])
      refuses(UnsignedAnswer, { ...answer, decision });
  });
  test.each([
    [[true, false]],
    [{ answers: [true, false] }],
    [{ answers: ['confirm'] }],
    [{ answers: { 0: 'confirm' } }],
    [{ answers: [] }],
    [{ answers: Array(51).fill({}) }],
    [{ answers: [{}], all: true }],
  ])('refuses an answer by position: %j [T58]', (message) => refuses(AnswerMessage, message));
});

test('the status shows only five members of a finding, and why it failed [G49]', () => {
  expect(keys(FindingProjection)).toEqual([
    'class',
    'errorClass',
    'evidenceRefs',
    'reason',
    'reasonCode',
    'status',
    'validatorId',
  ]);
  expect(keys(ReviewStatus)).not.toEqual(expect.arrayContaining(['plan', 'staging', 'submission']));
  expect(keys(ViolationStatus)).toEqual([...keys(PolicyViolation), 'confirmedBy', 'mayAnswer', 'resolution'].sort());
});

test('INTERVENTION_REQUIRED is neither an error nor a terminal state [G39]', () => {
  expect(ReviewState.options).toContain('INTERVENTION_REQUIRED');
  expect(TerminalState.options).toEqual(['COMMITTED', 'ROLLED_BACK', 'COMPENSATED']);
  expect(
    [...ReviewState.options, ...RollbackReason.options].filter((word) => /intervention.*fail|error/i.test(word)),
  ).toEqual([]);
});
