import { extractTerraformPlanFacts } from '../../../../source-tools/terraform/facts/extract-terraform-facts';
import type { JsonValue } from '../../../../policy/contracts/canonical-json';
import { packDefinitions } from '../../../../source-tools';
import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import type { TerraformPlanFacts } from '../../../../source-tools/terraform/facts/terraform-facts';
import { runRule } from '../../../policy/rules/support/run-pack-rule';
import { withCorpus } from '../../sql/rules/support/corpus';

interface PlanCase {
  readonly id: string;
  readonly encoding: string;
  readonly format_version?: string;
  readonly terraform_version?: string;
  readonly actions?: Readonly<Record<string, number>>;
  readonly resource_changes?: readonly JsonValue[];
}

/** The original bytes: UTF-16 with a byte order mark if the file was UTF-16. */
function bytesOf(c: PlanCase): Buffer {
  const { format_version, terraform_version, resource_changes } = c;
  if (resource_changes === undefined) return Buffer.from('{"format_version": "1.0"} trailing');
  const configuration = { root_module: {} };
  const text = JSON.stringify({ format_version, terraform_version, resource_changes, configuration });
  return c.encoding === 'utf16le' ? Buffer.from(`\ufeff${text}`, 'utf16le') : Buffer.from(text);
}

withCorpus<readonly PlanCase[]>('terraform-plans.json', (cases) => {
  it.each(cases.map((c) => [c.id, c] as const))('reads %s with its actions, or refuses it', (_, c) => {
    const raw = bytesOf(c);
    const facts = extractTerraformPlanFacts(raw);
    if (c.encoding === 'utf16le') expect(facts).toMatchObject({ ok: false, code: 'utf16' });
    else if (c.resource_changes === undefined) expect(facts).toMatchObject({ ok: false, code: 'syntax_error' });
    else {
      expect(facts).toMatchObject({ ok: true });
      const counts: Record<string, number> = {};
      for (const r of (facts as TerraformPlanFacts).resources) {
        const name = r.action === 'replace' ? (r.destroyFirst ? 'delete+create' : 'create+delete') : r.action;
        counts[name] = (counts[name] ?? 0) + 1;
      }
      expect(counts).toEqual(c.actions);
    }
    // Does not throw.
    for (const { implementation } of packDefinitions.filter(({ pack }) => pack === 'terraform-plan'))
      runRule(implementation, raw);
  });
});

describe('a plan', () => {
  it('does not pass sensitive values to rules', () => {
    const raw = planOf([
      {
        address: 'aws_db_instance.main',
        actions: ['create'],
        after: { password: 'hunter2-hunter2', tags: { a: 'b' } },
        after_sensitive: { password: true },
      },
    ]);
    const facts = extractTerraformPlanFacts(Buffer.from(raw));
    expect(facts.ok).toBe(true);
    expect(JSON.stringify(facts)).not.toContain('hunter2');
  });

  it.each([
    ['in a module that is called "data"', 'module.data.aws_db_instance.main', {}],
    ['with a key that contains ".data."', 'aws_db_instance.main["eu.data.1"]', { type: 'aws_db_instance' }],
    ['that is listed as a data source', 'aws_db_instance.main', { mode: 'data' }],
  ])('does not hide the destruction of a database %s', (_, address, more) => {
    const raw = planOf([{ address, actions: ['delete'], before: {}, ...more }]);
    for (const rule of ['terraform_destroy', 'terraform_protected_resource'])
      expect(runRule(rule, raw).status).toBe('BLOCK');
  });

  it('is held if a resource or its change has a member that is not known and not empty', () => {
    const queue = { address: 'aws_sqs_queue.q', actions: ['create'], after: {} };
    const reasonOf = (raw: string): string | null => runRule('terraform_unread_member', raw).reason;
    expect(reasonOf(planOf([{ ...queue, triggers: ['x'] }]))).toContain('"resource_changes.triggers"');
    const changed = planOf([queue]).replace('"actions": [', '"deferred": true, "actions": [');
    expect(reasonOf(changed)).toContain('"resource_changes.change.deferred"');
    const known = planOf([queue]).replace('"actions": [', '"replace_paths": [["a"]], "later": null, "actions": [');
    expect(runRule('terraform_unread_member', known).status).toBe('ALLOW');
  });

  it('is held for an import of any form, and for a check with a status that is not known', () => {
    const queue = { address: 'aws_sqs_queue.q', actions: ['no-op'], before: {}, after: {} };
    const imported = planOf([queue]).replace('"actions": [', '"importing": true, "actions": [');
    expect(runRule('terraform_import', imported).status).toBe('BLOCK');
    const checked = (status: string): string =>
      runRule('terraform_format', planOf([queue], { checks: [{ status }] })).status;
    expect(['pass', 'unknown', 'fail', 'skipped'].map(checked)).toEqual(['ALLOW', 'ALLOW', 'BLOCK', 'BLOCK']);
  });

  it('is blocked as undecidable if a value that a rule needs is unknown', () => {
    const after = { type: 'ingress', protocol: 'tcp', from_port: 22, to_port: 22 };
    const raw = planOf([
      { address: 'aws_security_group_rule.a', actions: ['create'], after, after_unknown: { cidr_blocks: true } },
    ]);
    expect(runRule('terraform_open_ingress', raw)).toMatchObject({
      status: 'BLOCK',
      reason: expect.stringContaining('not known before apply'),
    });
  });

  it.each([
    ['a text plan', 'Terraform will perform the following actions:', 'syntax_error'],
    ['a state', '{"format_version": "1.0", "values": {}}', 'not_a_plan'],
    ['an unknown format', '{"format_version": "2.0"}', 'unknown_format'],
    ['an unknown action', planOf([{ address: 'a.b', actions: ['create', 'update'] }]), 'unknown_action'],
    ['a duplicate key', '{"format_version": "1.0", "format_version": "1.1"}', 'duplicate_key'],
    ['nesting that is too deep', `{"format_version": "1.0", "x": ${'['.repeat(300)}${']'.repeat(300)}}`, 'too_deep'],
    ['too many bytes', ' '.repeat(1024 * 1024 + 1), 'too_large'],
  ])('is refused as %s', (_, raw, code) => {
    expect(extractTerraformPlanFacts(Buffer.from(raw))).toMatchObject({ ok: false, code });
  });
});

describe('what Terraform never writes', () => {
  const plan = (mode: string, actions: readonly string[], before: JsonValue, after: JsonValue) =>
    extractTerraformPlanFacts(Buffer.from(planOf([{ address: 'aws_iam_user.u', mode, actions, before, after }])));

  it.each(['create', 'update', 'delete', 'forget'])('is refused: a data source with the action %s', (action) => {
    expect(plan('data', [action], null, { name: 'a' })).toMatchObject({ ok: false, code: 'invalid_document' });
    const before = action === 'create' ? null : {};
    expect(plan('managed', [action], before, { name: 'a' })).toMatchObject({ ok: true });
  });

  it.each(['managed', 'data'])('is refused: no-op with a difference, of a %s resource', (mode) => {
    expect(plan(mode, ['no-op'], { name: 'a' }, { name: 'b' })).toMatchObject({ ok: false, code: 'invalid_document' });
    expect(plan(mode, ['no-op'], { name: 'a' }, { name: 'a' })).toMatchObject({ ok: true });
    expect(plan(mode, ['no-op'], null, { name: 'a' })).toMatchObject({ ok: false });
  });

  it('is refused: no-op with a value that is not known before apply, and reading a managed resource', () => {
    const unknown = { after_unknown: { name: true } };
    const change = { address: 'aws_iam_user.u', actions: ['no-op'], before: { name: null }, after: { name: null } };
    expect(extractTerraformPlanFacts(Buffer.from(planOf([change])))).toMatchObject({ ok: true });
    expect(extractTerraformPlanFacts(Buffer.from(planOf([{ ...change, ...unknown }])))).toMatchObject({ ok: false });
    expect(plan('managed', ['read'], null, { name: 'a' })).toMatchObject({ ok: false });
    expect(plan('data', ['read'], null, { name: 'a' })).toMatchObject({ ok: true });
  });

  it('is refused also where a sensitive value differs', () => {
    const hidden = { before_sensitive: { password: true }, after_sensitive: { password: true } };
    const change = { actions: ['no-op'], before: { password: 'a' }, after: { password: 'b' }, ...hidden };
    const facts = extractTerraformPlanFacts(Buffer.from(planOf([{ address: 'aws_db_instance.d', ...change }])));
    expect(facts).toMatchObject({ ok: false });
    expect(JSON.stringify(facts)).not.toMatch(/"[ab]"/);
  });
});

describe('members of blocks that the configuration does not set', () => {
  const left = (expressions: object, after: object, after_unknown: object): readonly string[] => {
    const address = 'aws_ecr_repository.r';
    const resources = [{ address, mode: 'managed', type: 'aws_ecr_repository', name: 'r', expressions }];
    const raw = planOf([{ address, actions: ['create'], after, after_unknown }], {
      configuration: { root_module: { resources } },
    });
    const facts = extractTerraformPlanFacts(Buffer.from(raw)) as TerraformPlanFacts;
    return facts.resources[0]?.leftToProvider ?? [];
  };
  const constant = { constant_value: 'KMS' };
  const one = { e: [{ type: 'KMS' }] };
  const unknown = { e: [{ key: true }] };

  it('are named with dots, at any depth', () => {
    expect(left({ e: [{ type: constant }] }, one, unknown)).toEqual(['e.key']);
    expect(left({ e: [{ f: [{ a: constant }] }] }, { e: [{ f: [{ a: 1 }] }] }, { e: [{ f: [{ b: true }] }] })).toEqual([
      'e.f.b',
    ]);
  });

  it('are not named if the configuration sets them, or if `dynamic` can have generated the block', () => {
    expect(left({ e: [{ type: constant, key: { references: ['var.k'] } }] }, one, unknown)).toEqual([]);
    expect(left({}, one, unknown)).toEqual([]);
    expect(left({ e: [{}] }, { e: [{}, {}] }, { e: [{ key: true }, { key: true }] })).toEqual([]);
    expect(left({ e: [{}, {}] }, { e: [{}, {}] }, { e: [{ key: true }, { key: true }] })).toEqual([]);
    expect(left({ e: [{}] }, { e: [{}] }, { e: true })).toEqual([]);
  });

  it('are not those of a map or a list of a value', () => {
    expect(left({ e: { references: ['var.e'] } }, { e: [{ a: 1 }] }, unknown)).toEqual([]);
    expect(left({ e: [{ references: ['var.e'] }] }, one, unknown)).toEqual([]);
  });
});
