import type { FindingProjection, ReviewStatus, ViolationStatus } from '../../policy/contracts/status';
import type { ReviewResult } from '../../client/result';
import type { VerifiedReview } from '../../signing/verified-review';
import { printStaging } from './staging-view';
import { printDiff, printEvidence, decodeUtf8 } from './diff-view';
import { line, styled, type Printable, type Printer, type Style, type Text } from '../printer';

export type ShownReview = Pick<VerifiedReview, 'status' | 'bytes' | 'staging' | 'preview'>;

/** Prints a review for the person who must answer it: the bytes, the dry run, the findings, then the violations. */
export function printReview(out: Printer, review: ShownReview, now: Date): void {
  const { status, bytes } = review;
  out.line(line`${styled('bold', 'Review')} ${status.changeId}  ${stateText(status.state, status.reason)}`);
  field(
    out,
    'target',
    line`${status.tenant}/${status.target}  ${status.sourceTool}  ${status.environment ?? 'environment unknown'}${status.mode === null ? '' : `, ${status.mode}`}`,
  );
  field(out, 'requester', status.requester ?? 'unknown');
  if (status.deadlineAt !== null)
    field(out, 'deadline', `${status.deadlineAt} (${remaining(status.deadlineAt, now)}); then it is rolled back`);
  field(out, 'fingerprint', status.fingerprint ?? 'none: no violations were disclosed');
  for (const warning of status.warnings) out.line(line`${styled('yellow', '  ! ')}${styled('yellow', warning)}`);
  out.line();
  out.line(line`${styled('bold', 'Diff')} sha256:${status.diffSha}${bytes === null ? '' : `, ${bytes.length} bytes`}`);
  if (bytes === null) out.line(styled('yellow', '  its bytes cannot be read here: do not answer what you cannot see'));
  else printDiff(out, status.sourceTool, bytes);
  out.line();
  printMetadata(out, status.metadata);
  printStaging(out, review);
  out.line(styled('bold', `Findings (${status.findings.length})`));
  const text = bytes === null ? null : decodeUtf8(bytes);
  for (const finding of status.findings) printFinding(out, finding, status.diffSha, text);
  out.line();
  out.line(styled('bold', `Violations (${status.violations.length})`));
  for (const violation of status.violations) printViolation(out, violation);
  if (status.violations.length === 0) out.line('  none');
}

/** What the submitter wrote beside the bytes: claims, and members that become part of the effect, such as a commit message. */
function printMetadata(out: Printer, metadata: ReviewStatus['metadata']): void {
  const members = Object.entries(metadata);
  if (members.length === 0) return;
  out.line(
    styled(
      'bold',
      `Metadata (${members.length}), written by the submitter; a commit message becomes part of the effect`,
    ),
  );
  for (const [name, value] of members) {
    out.line(line`  ${styled('dim', name)}`);
    out.block(typeof value === 'string' ? value : JSON.stringify(value), '      ');
  }
  out.line();
}

function field(out: Printer, name: string, value: Printable): void {
  out.line(line`  ${styled('dim', name.padEnd(12))}${value}`);
}

export function printFinding(out: Printer, finding: FindingProjection, diffSha: string, text: string | null): void {
  const quiet = finding.status === 'ALLOW' || finding.status === 'SKIPPED';
  out.line(
    line`  ${statusText(finding.status)} ${finding.class.padEnd(6)} ${finding.validatorId}${finding.errorClass === undefined ? '' : line` ${styled('magenta', finding.errorClass)}`}`,
  );
  if (quiet && finding.status === 'ALLOW') return;
  out.block(finding.reason, '      ');
  printEvidence(out, finding.evidenceRefs, diffSha, text);
}

export function printViolation(out: Printer, violation: ViolationStatus): void {
  const { resolution } = violation;
  const style: Style =
    resolution === 'confirmed' || resolution === 'callback' ? 'green' : resolution === 'pending' ? 'yellow' : 'red';
  out.line(
    line`  ${styled('bold', violation.violationId.slice(0, 12))} ${styled(style, resolution)}  ${violation.validatorId}  policy ${violation.policyKey}`,
  );
  out.block(violation.message, '      ');
  const { callbackResult } = violation;
  if (callbackResult !== null) {
    out.line(
      line`      callback ${callbackResult.passed ? styled('green', 'passed') : styled('red', 'failed')}${callbackResult.message === null ? '' : `: ${callbackResult.message}`}`,
    );
  }
  if (violation.need !== 'human') return;
  const who = violation.mayAnswer.length === 0 ? 'no one' : violation.mayAnswer.join(', ');
  out.line(
    line`      ${violation.confirmedBy.length} of ${violation.quorum} confirmed${violation.confirmedBy.length === 0 ? '' : ` (${violation.confirmedBy.join(', ')})`}; group ${violation.group}; may answer: ${who}${violation.fourEyes ? '; four eyes' : ''}`,
  );
}

/** Prints the outcome of a review, or that it is open. */
export function printResult(out: Printer, changeId: string, result: ReviewResult): void {
  switch (result.state) {
    case 'PENDING': {
      const open = result.status?.violations.filter((violation) => violation.resolution === 'pending') ?? [];
      out.line(
        line`${changeId}  ${styled('yellow', result.status?.state ?? 'open')}${open.length === 0 ? '' : `  ${open.length} to answer`}`,
      );
      for (const violation of open) printViolation(out, violation);
      return;
    }
    case 'ABORTED':
      out.line(line`${changeId}  ${styled('red', 'ABORTED')}  ${styled('red', 'unverified')}`);
      out.block(result.why, '  ');
      return;
    case 'COMMITTED':
    case 'ROLLED_BACK':
    case 'COMPENSATED': {
      const { outcome } = result;
      out.line(
        line`${changeId}  ${stateText(outcome.state, outcome.reason)}  ${outcome.mode}  ${result.verified ? styled('green', 'verified') : styled('red', 'unverified')}`,
      );
      // Words that no receipt binds are not printed.
      if (result.verified) out.block(outcome.explanation, '  ');
      if (result.why !== null) out.line(line`  ${styled('red', result.why)}`);
      return;
    }
    default:
      result satisfies never;
  }
}

export function stateText(state: string, reason: string | null): Text {
  const style: Style =
    state === 'COMMITTED' ? 'green' : state === 'ROLLED_BACK' || state === 'COMPENSATED' ? 'red' : 'yellow';
  return styled(style, reason === null ? state : `${state} ${reason}`);
}

function statusText(status: FindingProjection['status']): Text {
  const style: Style = status === 'ALLOW' ? 'green' : status === 'BLOCK' ? 'red' : status === 'WARN' ? 'yellow' : 'dim';
  return styled(style, status.padEnd(7));
}

function remaining(deadline: string, now: Date): string {
  const minutes = Math.floor((Date.parse(deadline) - now.getTime()) / 60_000);
  if (minutes < 0) return 'past';
  return minutes < 120 ? `in ${minutes} min` : `in ${Math.floor(minutes / 60)} h`;
}
