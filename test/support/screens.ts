import type { AdmittedAnswer } from '../../policy/contracts/answer';
import { sha256Hex } from '../../policy/contracts/hash';
import type { FindingProjection, ReviewStatus, ViolationStatus } from '../../policy/contracts/status';
import type { VerifiedReview } from '../../signing/verified-review';
import { reviewed, status, violation } from '../client/fakes';
import { stagingRecord, updatedTable } from '../../dev/staging-record';
import { INVOICE_PREVIEW, INVOICE_UPDATE, invoiceEffects } from './invoice-update';
import { RELEASE_PATCH } from './release-patch';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const id = (start: string): string => sha256Hex(bytesOf(start));

interface Fired {
  readonly rule: string;
  readonly status: 'BLOCK' | 'WARN';
  readonly reason: string;
  /** Lines of the change, as `L1:C1-L1:C7`. */
  readonly at: readonly string[];
  /** Members of its violation; none for advice. */
  readonly violation?: Partial<ViolationStatus>;
}

/** A review with `passed` checks that passed before, between and after the findings that fired. */
function reviewOf(
  text: string,
  fired: readonly Fired[],
  passed: number,
  more: Partial<ReviewStatus>,
  rest: Partial<VerifiedReview>,
): VerifiedReview {
  const bytes = bytesOf(text);
  const diffSha = sha256Hex(bytes);
  const quiet: FindingProjection[] = Array.from({ length: passed }, (_, i) => ({
    validatorId: `guardian.check_${i + 1}`,
    class: 'POLICY',
    status: 'ALLOW',
    reason: '',
    evidenceRefs: [],
  }));
  const findings = fired.map(({ rule, status: of, reason, at }): FindingProjection => {
    return {
      validatorId: rule,
      class: 'POLICY',
      status: of,
      reason,
      evidenceRefs: at.map((l) => `diff:${diffSha}#${l}`),
    };
  });
  const violations = fired.flatMap(({ rule, reason, violation: own }, i) =>
    own === undefined
      ? []
      : [
          violation({
            violationId: id(rule),
            findingIndex: i + 3,
            validatorId: rule,
            message: reason,
            group: 'owners',
            ...own,
          }),
        ],
  );
  const all = [...quiet.slice(0, 3), ...findings, ...quiet.slice(3)];
  return { ...reviewed(status({ diffSha, findings: all, violations, ...more }), bytes), ...rest };
}

function answer(of: Partial<AdmittedAnswer>): AdmittedAnswer {
  return {
    violationId: id('guardian.sql_affected_rows'),
    fingerprint: 'f'.repeat(64),
    decision: 'confirm',
    person: 'bob',
    signed: true,
    reason: '',
    issuedAt: '2026-11-20T09:41:07.000Z',
    retracts: null,
    admittedAt: '2026-11-20T09:41:08.000Z',
    digest: '9'.repeat(64),
    ...of,
  };
}

const sql = reviewOf(
  INVOICE_UPDATE,
  [
    {
      rule: 'guardian.sql_affected_rows',
      status: 'BLOCK',
      reason: 'the dry run changed 40 rows of "public"."invoices"; the policy allows 10 without a person',
      at: ['L1:C1-L3:C29'],
      violation: { quorum: 2, confirmedBy: ['bob'], mayAnswer: ['alice', 'bob', 'dana'] },
    },
    {
      rule: 'guardian.metadata_mismatch',
      status: 'BLOCK',
      reason: 'the requester claims 12 rows, the dry run changed 40',
      at: [],
      violation: { mayAnswer: ['alice', 'bob', 'dana'] },
    },
  ],
  62,
  {
    changeId: id('sql'),
    target: 'billing',
    metadata: { reason: 'Close the third quarter, ticket FIN-204', affected_rows: 12 },
  },
  {
    staging: stagingRecord({
      target: 'billing',
      statements: [
        { sha: sha256Hex(bytesOf(INVOICE_UPDATE.trim().replace(';', ''))), command: 'UPDATE', rowCount: 40 },
      ],
      ...invoiceEffects('5'.repeat(64)),
      previewSha: '7'.repeat(64),
    }),
    preview: INVOICE_PREVIEW,
    answers: [answer({ reason: 'Agreed with finance on Monday; 40 is what the report lists.' })],
  },
);

const git = reviewOf(
  RELEASE_PATCH,
  [
    {
      rule: 'guardian.git_ci_changed',
      status: 'BLOCK',
      reason: 'changes the pipeline ".github/workflows/release.yml", which runs with its secrets',
      at: ['L9:C1-L9:C26', 'L10:C1-L10:C13', 'L11:C1-L11:C55'],
      violation: { mayAnswer: ['alice', 'bob'] },
    },
    {
      rule: 'guardian.git_lockfile_missing',
      status: 'WARN',
      reason: 'npm install can change the lock file; npm ci cannot',
      at: ['L9:C1-L9:C26'],
    },
  ],
  47,
  {
    changeId: id('git'),
    target: 'web',
    sourceTool: 'GitPatch',
    metadata: { message: 'Publish from the pipeline\n\nRetries were too few for the registry.' },
  },
  {
    staging: stagingRecord({
      sourceTool: 'GitPatch',
      target: 'web',
      statements: [{ sha: '6'.repeat(64), command: 'git apply', rowCount: 2 }],
      tables: [
        updatedTable('.github/workflows/release.yml', 1, '5'.repeat(64)),
        updatedTable('src/retry.ts', 1, '5'.repeat(64)),
      ],
      previewSha: '7'.repeat(64),
      serverVersion: 'git 2.47.3',
    }),
    preview: { paths: ['.github/workflows/release.yml', 'src/retry.ts'] },
  },
);

const REQUEST = JSON.stringify({
  method: 'PATCH',
  url: 'https://api.example.com/v1/projects/42?notify=all',
  headers: { 'Content-Type': 'application/merge-patch+json', 'If-Match': '"8c1f"' },
  body: { visibility: 'public', description: 'Roadmap\u202e gpj.exe' },
});

const http = reviewOf(
  REQUEST,
  [
    {
      rule: 'guardian.http_protected_pointer',
      status: 'BLOCK',
      reason: 'writes /visibility, which the policy protects',
      at: ['L1:C160-L1:C170'],
      violation: {
        mayAnswer: ['dana'],
        resolution: 'rejected',
        callbackResult: { passed: false, message: 'project 42 is not on the list of public projects' },
      },
    },
  ],
  28,
  {
    changeId: id('http'),
    target: 'projects',
    sourceTool: 'HTTPPatch',
    requester: null,
    warnings: ['The submission is not signed: four eyes need one more person'],
  },
  {
    staging: stagingRecord({
      sourceTool: 'HTTPPatch',
      target: 'projects',
      statements: [{ sha: '6'.repeat(64), command: 'PATCH', rowCount: 1 }],
      tables: [updatedTable('/v1/projects/42', 1, '5'.repeat(64))],
      uncaptured: ['what the server does besides this resource'],
      fullyCaptured: false,
      previewSha: '7'.repeat(64),
      serverVersion: 'http',
    }),
    preview: { method: 'PATCH', url: 'https://api.example.com/v1/projects/42' },
    answers: [
      answer({
        violationId: id('guardian.http_protected_pointer'),
        person: 'dana',
        decision: 'reject',
        reason: 'Not before the launch.',
      }),
    ],
  },
);

/** One review for each kind of change, as `show` prints it. */
export const SCREENS = { sql, git, http } as const;
