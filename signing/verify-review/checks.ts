import { checkAttested, checkSums } from './attested';
import { checkAnswers, checkCommitWindow, checkDecision, checkNonces, checkStandingReject } from './decision';
import { checkDisclosure, checkPreviouslyRejected } from './disclosure';
import { checkFindings } from './findings';
import { checkBoundWords, checkHead } from './head';
import { checkPlan, checkPolicy, checkTarget } from './policy';
import { checkEffect, checkReceipt, checkSettlement } from './receipt';
import { checkRecomputed } from './recomputed';
import type { Check, VerifyContext } from './record';
import { checkKeys } from './registry-entries';
import { checkChain, checkCheckpoint, checkChecksum, checkOrder } from './rows';
import { checkPreview, checkStaging } from './staging';
import { checkBytes, checkRequester, checkSubmission } from './submission';
import { checkWithdrawal } from './withdrawal';

/**
 * `required`: the verification fails unless the check passes. `if_supplied`: it may be `not_checked`, and must not fail.
 * `omitted`: it has no meaning there, with the reason.
 */
export type Need = 'required' | 'if_supplied' | `omitted: ${string}`;

export interface NamedCheck {
  readonly name: string;
  /** What a pass proves. */
  readonly proves: string;
  readonly contexts: Readonly<Record<VerifyContext, Need>>;
  readonly run: Check;
}

const NO_FILE = 'omitted: the committer reads the database, not a file';
const NOT_ENDED = 'omitted: the review has not ended';
const NO_TARGET = 'omitted: the configuration of the committer is not in the file';
const NO_TRUST = 'omitted: replay has no trust roots; it compares findings only';

/** Every check, in the order in which they run. A new one must say for each context whether it is required there. */
export const CHECKS = [
  {
    name: 'checksum',
    proves: 'The file was not damaged.',
    contexts: { commit: NO_FILE, open: 'required', evidence: 'required', replay: NO_TRUST },
    run: checkChecksum,
  },
  {
    name: 'chain',
    proves: 'The rows are one complete hash chain of this change.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: 'required' },
    run: checkChain,
  },
  {
    name: 'order',
    proves: 'Each row that a change has once occurs once, after the rows that must precede it.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: 'required' },
    run: checkOrder,
  },
  {
    name: 'checkpoint',
    proves: 'A trusted committer signed a Merkle tree that contains every row.',
    contexts: { commit: NOT_ENDED, open: 'if_supplied', evidence: 'if_supplied', replay: NO_TRUST },
    run: checkCheckpoint,
  },
  {
    name: 'head',
    proves: 'The rows reach the end of the change, which a trusted committer signed when it closed it.',
    contexts: { commit: NOT_ENDED, open: NOT_ENDED, evidence: 'required', replay: NO_TRUST },
    run: checkHead,
  },
  {
    name: 'receipt',
    proves: 'A trusted committer signed how this change ended.',
    contexts: { commit: NOT_ENDED, open: NOT_ENDED, evidence: 'required', replay: NO_TRUST },
    run: checkReceipt,
  },
  {
    name: 'submission',
    proves: 'The recorded submission hashes to this change id and input.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: 'required' },
    run: checkSubmission,
  },
  {
    name: 'bytes',
    proves: 'The bytes are those that the submission names.',
    contexts: { commit: 'required', open: 'required', evidence: 'if_supplied', replay: 'required' },
    run: checkBytes,
  },
  {
    name: 'plan',
    proves: 'The plan is the one that the review pinned, for this target, tool and mode.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: 'required' },
    run: checkPlan,
  },
  {
    name: 'policy',
    proves: 'A trusted operator signed the policy revision with this plan, and had not revoked it before the commit.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: NO_TRUST },
    run: checkPolicy,
  },
  {
    name: 'target',
    proves: 'The configuration of this committer serves the target, in the same mode and environment as the plan.',
    contexts: {
      commit: 'required',
      open: NO_TARGET,
      evidence: NO_TARGET,
      replay: NO_TARGET,
    },
    run: checkTarget,
  },
  {
    name: 'keys',
    proves: 'A trusted operator registered every key that signed something in the file.',
    contexts: {
      commit: 'omitted: the key registry verifies each entry when it reads it',
      open: 'required',
      evidence: 'required',
      replay: NO_TRUST,
    },
    run: checkKeys,
  },
  {
    name: 'settlement',
    proves: 'The receipt and the rows of the ending describe the same change and the same end.',
    contexts: { commit: NOT_ENDED, open: NOT_ENDED, evidence: 'required', replay: NO_TRUST },
    run: checkSettlement,
  },
  {
    name: 'effect',
    proves: 'If the receipt rests on the statement of an operator, a trusted operator made that statement.',
    contexts: { commit: NOT_ENDED, open: NOT_ENDED, evidence: 'required', replay: NO_TRUST },
    run: checkEffect,
  },
  {
    name: 'staging',
    proves: 'The dry run is the one that the decision rests on, and an enforced commit has one.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: 'required' },
    run: checkStaging,
  },
  {
    name: 'preview',
    proves: 'The rows before and after that people are shown are those of the dry run.',
    contexts: {
      commit: 'omitted: no person is shown anything',
      open: 'if_supplied',
      evidence: 'if_supplied',
      replay: 'omitted: rules do not read it',
    },
    run: checkPreview,
  },
  {
    name: 'requester',
    proves: 'The signature of the submission is valid or absent, and the rows name the person that it proves.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: NO_TRUST },
    run: checkRequester,
  },
  {
    name: 'withdrawal',
    proves:
      'The change that is committed was neither withdrawn nor superseded. A rollback for that reason follows from a valid signature.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: NO_TRUST },
    run: checkWithdrawal,
  },
  {
    name: 'attested',
    proves: 'Every attested record is signed by an attestor, for this change and the input computed here.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: NO_TRUST },
    run: checkAttested,
  },
  {
    name: 'sums',
    proves: 'Every limit over many changes counted all the changes that it must count.',
    contexts: { commit: 'required', open: 'if_supplied', evidence: 'if_supplied', replay: NO_TRUST },
    run: checkSums,
  },
  {
    name: 'findings',
    proves: 'The findings are those of the rows, one for each validator, and none is milder than its row or records.',
    contexts: {
      commit: 'required',
      open: 'required',
      evidence: 'required',
      replay: 'omitted: replay compares the findings of the file itself',
    },
    run: checkFindings,
  },
  {
    name: 'recomputed',
    proves: 'Running the rules again on bytes and dry run gives the same derived findings.',
    contexts: { commit: 'required', open: 'if_supplied', evidence: 'if_supplied', replay: 'required' },
    run: checkRecomputed,
  },
  {
    name: 'previously_rejected',
    proves:
      'The approvers were shown every reject of the same change under another request key: none came after this review was opened.',
    contexts: { commit: 'required', open: 'if_supplied', evidence: 'if_supplied', replay: NO_TRUST },
    run: checkPreviouslyRejected,
  },
  {
    name: 'disclosure',
    proves: 'The disclosed violations and fingerprint equal the recomputed ones.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: NO_TRUST },
    run: checkDisclosure,
  },
  {
    name: 'bound_words',
    proves: 'The receipt was signed for this explanation, these findings and violations, and the rows before it.',
    contexts: { commit: NOT_ENDED, open: NOT_ENDED, evidence: 'required', replay: NO_TRUST },
    run: checkBoundWords,
  },
  {
    name: 'answers',
    proves:
      'Each accepted answer was signed by a registered key for this change; one that is no longer valid does not count.',
    contexts: { commit: 'required', open: 'required', evidence: 'required', replay: NO_TRUST },
    run: checkAnswers,
  },
  {
    name: 'nonces',
    proves: 'Each answer was admitted: its nonce was spent by it in the database.',
    contexts: { commit: 'required', open: 'if_supplied', evidence: 'if_supplied', replay: NO_TRUST },
    run: checkNonces,
  },
  {
    name: 'standing_reject',
    proves: 'No registered approver rejected the change that is committed.',
    contexts: { commit: 'required', open: NOT_ENDED, evidence: 'required', replay: NO_TRUST },
    run: checkStandingReject,
  },
  {
    name: 'decision',
    proves: 'decide() returns this outcome for the findings, violations and answers.',
    contexts: { commit: 'required', open: NOT_ENDED, evidence: 'required', replay: NO_TRUST },
    run: checkDecision,
  },
  {
    name: 'commit_window',
    proves: "The last answer that counts was within the plan's commit window.",
    contexts: { commit: 'required', open: NOT_ENDED, evidence: 'required', replay: NO_TRUST },
    run: checkCommitWindow,
  },
] as const satisfies readonly NamedCheck[];

export type CheckName = (typeof CHECKS)[number]['name'];
