import type { OpenedChange } from '../../../activities/review/opened-change';
import type { CommitInput, Disclosed, Opened, DryRun } from '../../../activities/review-types';
import { changeId as changeIdOf, inputSha as inputShaOf } from '../../../policy/contracts/change-id';
import { Submission, type Envelope } from '../../../policy/contracts/diff';
import { sha256Hex } from '../../../policy/contracts/hash';
import type { LedgerKind } from '../../../policy/contracts/ledger';
import type { Plan } from '../../../policy/contracts/plan';
import type { PolicyViolation } from '../../../policy/contracts/violation';
import type { StoredRow } from '../../../policy/evidence/chain';
import { signPredicate } from '../../../signing/envelope';
import { newNonce } from '../../../signing/nonce';
import type { SigningKey } from '../../../signing/keys';
import type { TestKey } from '../keys';
import { memorySends } from '../memory-sends';
import type { ReviewDeps } from './review-deps';

export interface SubmittedChange {
  readonly text: string;
  readonly sourceTool: string;
  readonly tenant?: string | undefined;
  readonly requestKey?: string | undefined;
  readonly metadata?: Submission['metadata'];
}

/** A change submitted for review, and what its review has reached so far. */
export abstract class SubmittedReview {
  readonly raw: Uint8Array;
  submission: Submission;
  readonly changeId: string;
  readonly inputSha: string;
  opened: Opened | null = null;
  staged: Extract<DryRun, { kind: 'staged' }> | null = null;
  disclosed: (Disclosed & { readonly violations: readonly PolicyViolation[] }) | null = null;
  readonly sends = memorySends();

  abstract readonly plan: Plan;
  abstract readonly planHash: string;
  /** `judge` signs the records of the judge; by default the attestor does. */
  abstract readonly keys: { readonly attestor: SigningKey; readonly judge?: SigningKey };
  abstract get deps(): ReviewDeps;
  /** The current time. A clock may advance at each call. */
  abstract clock(): Date;

  constructor({ text, tenant = 'acme', sourceTool, requestKey = '', metadata = {} }: SubmittedChange) {
    this.raw = new TextEncoder().encode(text);
    const diffSha = sha256Hex(this.raw);
    this.submission = Submission.parse({ tenant, target: 'shop', sourceTool, diffSha, metadata, requestKey });
    this.changeId = changeIdOf(this.submission);
    this.inputSha = inputShaOf(this.submission);
  }

  signSubmission(
    key: TestKey,
    more: Partial<{ changeId: string; inputSha: string; onBehalfOf: string | null; nonce: string }> = {},
  ): Envelope {
    const { changeId, inputSha } = this;
    const { keyId, entry } = key;
    const predicate = {
      changeId,
      inputSha,
      keyId,
      onBehalfOf: entry.onBehalfOf,
      supersedes: this.submission.supersedes ?? null,
      nonce: newNonce(),
      issuedAt: this.at(),
    };
    return signPredicate('submission', { ...predicate, ...more }, key);
  }

  at(): string {
    return this.clock().toISOString();
  }

  get ref(): OpenedChange {
    const { tenant, target, sourceTool, diffSha, metadata } = this.submission;
    const { changeId, inputSha, planHash } = this;
    return { changeId, tenant, target, sourceTool, diffSha, metadata, inputSha, planHash };
  }

  get input(): CommitInput {
    const { changeId, planHash, staged, disclosed } = this;
    return { changeId, planHash, stagingSha: staged?.stagingSha ?? null, fingerprint: disclosed?.fingerprint ?? null };
  }

  rows(): Promise<readonly StoredRow[]> {
    return this.deps.ledger.read(this.changeId);
  }

  async kinds(): Promise<LedgerKind[]> {
    return (await this.rows()).map(({ row }) => row.kind);
  }
}
