import type { StagingRecord } from '../../../../policy/contracts/staging-record';
import type { JsonObject } from '../../../../policy/contracts/canonical-json';
import { stagingRecord, updatedTable } from '../../../../dev/staging-record';
import { sha256HexOfText } from '../../../../policy/contracts/hash';
import { INVOICE_PREVIEW, INVOICE_UPDATE, invoice, invoiceEffects } from '../../../support/invoice-update';
import { RELEASE_PATCH } from '../../../support/release-patch';

/** One change as a requester submits it, with what its dry run measures. */
export interface SampleChange {
  readonly sourceTool: string;
  readonly text: string;
  readonly metadata: JsonObject;
  readonly record: Partial<StagingRecord>;
  readonly preview: JsonObject;
}

const forbidden: SampleChange = {
  sourceTool: 'SQLDryRun',
  text: 'DROP SCHEMA shop CASCADE;\n',
  metadata: {},
  record: {},
  preview: {},
};

const touched = sha256HexOfText('touched');

const update: SampleChange = {
  sourceTool: 'SQLDryRun',
  text: INVOICE_UPDATE,
  metadata: { affected_rows: 12, reason: 'Close the third quarter, ticket FIN-204. Already approved by finance.' },
  record: {
    statements: [{ sha: sha256HexOfText('u'), command: 'UPDATE', rowCount: 40 }],
    ...invoiceEffects(touched),
  },
  preview: INVOICE_PREVIEW,
};

const remove: SampleChange = {
  sourceTool: 'SQLDryRun',
  text: "-- old drafts\u202e gpj.exe\nDELETE FROM invoices WHERE status = 'draft';\n",
  metadata: { affected_rows: 40 },
  record: {
    statements: [{ sha: sha256HexOfText('d'), command: 'DELETE', rowCount: 40 }],
    tables: [{ ...updatedTable('public.invoices', 0, touched), deleted: 40 }],
  },
  preview: {
    tables: [
      {
        table: 'public.invoices',
        total: 40,
        rows: Array.from({ length: 20 }, (_, i) => ({ before: { ...invoice(i), status: 'draft' }, after: null })),
      },
    ],
    moreTables: 0,
  },
};

const git: SampleChange = {
  sourceTool: 'GitPatch',
  text: RELEASE_PATCH,
  metadata: {
    base_commit: sha256HexOfText('base'),
    message: 'Publish from the pipeline\n\nRetries were too few for the registry.',
  },
  record: {
    statements: [{ sha: sha256HexOfText('g'), command: 'git apply', rowCount: 2 }],
    tables: [updatedTable('.github/workflows/release.yml', 1, touched), updatedTable('src/retry.ts', 1, touched)],
    serverVersion: 'git 2.47.3',
  },
  preview: { paths: ['.github/workflows/release.yml', 'src/retry.ts'] },
};

const patch: SampleChange = {
  sourceTool: 'HTTPPatch',
  text: JSON.stringify({
    method: 'PATCH',
    url: 'https://api.example.com/v1/projects/42?notify=all',
    headers: { 'Content-Type': 'application/json-patch+json', 'If-Match': '"8c1f"' },
    body: [
      { op: 'test', path: '/owner', value: 'web' },
      { op: 'replace', path: '/visibility', value: 'public' },
      { op: 'remove', path: '/reviewers/0' },
      { op: 'add', path: '/labels/-', value: 'launch\u200b' },
    ],
    document: { owner: 'web', visibility: 'private', reviewers: ['carol', 'dave'], labels: [] },
  }),
  metadata: {},
  record: {
    statements: [{ sha: sha256HexOfText('p'), command: 'PATCH', rowCount: 1 }],
    tables: [updatedTable('/v1/projects/42', 1, touched)],
    uncaptured: ['what the server does besides this resource'],
    fullyCaptured: false,
    serverVersion: 'http',
  },
  preview: { method: 'PATCH', url: 'https://api.example.com/v1/projects/42' },
};

const httpDelete: SampleChange = {
  sourceTool: 'HTTPPatch',
  text: JSON.stringify({ method: 'DELETE', url: 'https://api.example.com/v1/projects/42' }),
  metadata: { reason: 'The project is archived' },
  record: {
    statements: [{ sha: sha256HexOfText('h'), command: 'DELETE', rowCount: 1 }],
    tables: [{ ...updatedTable('/v1/projects/42', 0, touched), deleted: 1 }],
    serverVersion: 'http',
  },
  preview: { method: 'DELETE', url: 'https://api.example.com/v1/projects/42' },
};

const resource = (
  address: string,
  actions: readonly string[],
  before: JsonObject | null,
  after: JsonObject | null,
) => ({
  address,
  mode: 'managed',
  type: address.split('.')[0] ?? '',
  name: address.split('.')[1] ?? '',
  provider_name: 'registry.terraform.io/hashicorp/aws',
  change: { actions: [...actions], before, after, after_unknown: {}, before_sensitive: false, after_sensitive: false },
});

const terraform: SampleChange = {
  sourceTool: 'TerraformPlan',
  text: `${JSON.stringify(
    {
      format_version: '1.2',
      terraform_version: '1.9.5',
      resource_changes: [
        resource(
          'aws_instance.web',
          ['update'],
          { instance_type: 't3.small', tags: { env: 'prod' } },
          { instance_type: 't3.large', tags: { env: 'prod' } },
        ),
        resource('aws_instance.old', ['delete'], { instance_type: 't3.small', tags: { env: 'prod' } }, null),
        resource('aws_security_group.open', ['create'], null, {
          name: 'open',
          ingress: [{ from_port: 22, to_port: 22, protocol: 'tcp', cidr_blocks: ['0.0.0.0/0'] }],
        }),
      ],
      configuration: { root_module: {} },
    },
    null,
    2,
  )}\n`,
  metadata: { reason: 'Resize and clean up' },
  record: {},
  preview: {},
};

export const SAMPLE_CHANGES = { update, remove, git, patch, httpDelete, terraform, forbidden } as const;
export type SampleName = keyof typeof SAMPLE_CHANGES;

export function sampleRecord({ sourceTool, record }: SampleChange): StagingRecord {
  return stagingRecord({ sourceTool, ...record });
}
