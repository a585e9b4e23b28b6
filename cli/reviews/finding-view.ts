import type { FindingProjection, ReviewStatus, ViolationStatus } from '../../policy/contracts/status';
import { line, styled, type Printer, type Style, type Text } from '../printer';
import { shellCommand } from '../shell-quote';
import { shortId } from './change-id';
import { printEvidence } from './diff-view';
import type { Extent } from './staging-view';

const MAX_REASON = 3;
const MAX_EVIDENCE = 2;

/** The text of the diff and its digest, for evidence that points into it. */
export interface EvidenceSource {
  readonly diffSha: string;
  /** Null if the bytes are not here or not UTF-8. */
  readonly text: string | null;
}

export interface FiredFinding {
  readonly finding: FindingProjection;
  readonly violations: readonly ViolationStatus[];
}

/** The findings that fired, each with its violations; violations that belong to none of them; and how many checks passed. */
export function groupFindings({ findings, violations }: Pick<ReviewStatus, 'findings' | 'violations'>): {
  readonly fired: readonly FiredFinding[];
  readonly others: readonly ViolationStatus[];
  readonly passed: number;
  readonly skipped: number;
} {
  const left = new Set(violations);
  const fired: FiredFinding[] = [];
  findings.forEach((finding, index) => {
    const own = violations.filter((v) => v.findingIndex === index && v.validatorId === finding.validatorId);
    for (const violation of own) left.delete(violation);
    if (own.length > 0 || finding.status === 'BLOCK' || finding.status === 'WARN')
      fired.push({ finding, violations: own });
  });
  const count = (status: FindingProjection['status']): number =>
    findings.filter((finding) => finding.status === status).length;
  return { fired, others: [...left], passed: count('ALLOW'), skipped: count('SKIPPED') };
}

/** Prints one finding that fired: its reason, its evidence, and its violations with the commands that answer them. */
export function printFired(
  out: Printer,
  changeId: string,
  { finding, violations }: FiredFinding,
  source: EvidenceSource,
  extent: Extent,
): void {
  printFinding(out, finding, source, extent);
  for (const violation of violations) {
    printViolation(out, violation, finding.reason, extent);
    const waits = violation.need === 'human' && violation.resolution === 'pending';
    if (waits) out.line(line`      ${styled('cyan', answerCommand(changeId, shortId(violation.violationId)))}`);
  }
}

/** `countersign answer 1a2b3c4d --violation 5e6f7081 --confirm --key KEYFILE` */
export function answerCommand(changeId: string, violation: string | null): string {
  const which = violation === null ? ['--all'] : ['--violation', violation];
  return shellCommand(['countersign', 'answer', shortId(changeId), ...which, '--confirm', '--key', 'KEYFILE']);
}

export function printFinding(
  out: Printer,
  finding: FindingProjection,
  { diffSha, text }: EvidenceSource,
  extent: Extent = 'full',
): void {
  const error = finding.errorClass === undefined ? '' : line` ${styled('magenta', finding.errorClass)}`;
  out.line(line`  ${statusText(finding.status)} ${finding.class.padEnd(6)} ${finding.validatorId}${error}`);
  if (finding.status === 'ALLOW') return;
  printText(out, finding.reason, extent);
  const shown = extent === 'full' ? finding.evidenceRefs : finding.evidenceRefs.slice(0, MAX_EVIDENCE);
  printEvidence(out, shown, diffSha, text, extent === 'full' ? Infinity : 1);
  const more = finding.evidenceRefs.length - shown.length;
  if (more > 0) out.line(styled('yellow', `      … ${more} more places (--all)`));
}

/** `said`: the text of the finding above it, which is not printed again. */
export function printViolation(out: Printer, violation: ViolationStatus, said = '', extent: Extent = 'full'): void {
  const { resolution, callbackResult } = violation;
  const id = line`    ${styled('bold', shortId(violation.violationId))} ${styled(STYLES[resolution], resolution)}`;
  out.line(line`${id}  ${said === '' ? `${violation.validatorId}  ` : ''}${askedText(violation)}`);
  // The message can repeat the reason, alone or in its first lines.
  const own = violation.message.startsWith(said) ? violation.message.slice(said.length).trim() : violation.message;
  if (own !== '') printText(out, own, extent);
  if (callbackResult === null) return;
  const passed = callbackResult.passed ? styled('green', 'passed') : styled('red', 'failed');
  const message = callbackResult.message === null ? '' : `: ${callbackResult.message}`;
  out.line(line`      callback ${passed}${message}`);
}

/** Who is asked, and the quorum so far. */
function askedText(violation: ViolationStatus): string {
  const { need, confirmedBy, quorum, group, mayAnswer, fourEyes, policyKey } = violation;
  if (need !== 'human') return `policy ${policyKey}`;
  const by = confirmedBy.length === 0 ? '' : ` (${confirmedBy.join(', ')})`;
  const who = mayAnswer.length === 0 ? 'may answer: no one' : `may answer: ${mayAnswer.join(', ')}`;
  return `${confirmedBy.length} of ${quorum} confirmed${by}; ${group}, ${who}${fourEyes ? '; four eyes' : ''}`;
}

function printText(out: Printer, text: string, extent: Extent): void {
  if (text === '') return;
  const omitted = out.block(text, '      ', null, extent === 'full' ? Infinity : MAX_REASON);
  if (omitted > 0) out.line(styled('yellow', `      … ${omitted} more lines (--all)`));
}

const STYLES: Readonly<Record<ViolationStatus['resolution'], Style>> = {
  callback: 'green',
  confirmed: 'green',
  pending: 'yellow',
  rejected: 'red',
  hard: 'red',
};

function statusText(status: FindingProjection['status']): Text {
  const style: Style = status === 'ALLOW' ? 'green' : status === 'BLOCK' ? 'red' : status === 'WARN' ? 'yellow' : 'dim';
  return styled(style, status.padEnd(7));
}
