import type { FindingProjection, ReviewStatus, ViolationStatus } from '../../policy/contracts/status';
import { foldUnread, unreadText } from '../../policy/rules/fold-unread';
import { counted } from '../../policy/text/counted';
import { withoutFirstLines } from '../../policy/text/without-first-lines';
import { line, styled, type Printer, type Style, type Text } from '../printer';
import { shellCommand } from '../shell-quote';
import { shortIds } from './change-id';
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

/**
 * The findings that fired, each with its violations; those of checks that could not read the change, as one of `fired` says;
 * violations that belong to none of them; and how many checks passed.
 */
export function groupFindings({ findings, violations }: Pick<ReviewStatus, 'findings' | 'violations'>): {
  readonly fired: readonly FiredFinding[];
  readonly unread: readonly FiredFinding[];
  readonly others: readonly ViolationStatus[];
  readonly passed: number;
  readonly skipped: number;
} {
  const left = new Set(violations);
  const all: FiredFinding[] = [];
  findings.forEach((finding, index) => {
    const own = violations.filter((v) => v.findingIndex === index && v.validatorId === finding.validatorId);
    for (const violation of own) left.delete(violation);
    if (own.length > 0 || finding.status === 'BLOCK' || finding.status === 'WARN')
      all.push({ finding, violations: own });
  });
  const unread = new Set(foldUnread(all.flatMap((each) => (each.violations.length > 0 ? [] : [each.finding]))).unread);
  const count = (status: FindingProjection['status']): number =>
    findings.filter((finding) => finding.status === status).length;
  return {
    fired: all.filter(({ finding }) => !unread.has(finding)),
    unread: all.filter(({ finding }) => unread.has(finding)),
    others: [...left],
    passed: count('ALLOW'),
    skipped: count('SKIPPED'),
  };
}

/** How violations are printed. `label`: the digits of its id that name one of them. */
export interface ViolationView {
  readonly extent: Extent;
  readonly label: (violationId: string) => string;
}

/** The digits that name each violation of the review. */
export function violationLabels({ violations }: Pick<ReviewStatus, 'violations'>): (violationId: string) => string {
  return shortIds(violations.map(({ violationId }) => violationId));
}

/** What the printed commands answer. */
export interface AnswerTo {
  readonly changeId: string;
  /** Whether a login or COUNTERSIGN_KEY_FILE names a key; otherwise the commands have the option `--key`. */
  readonly keyIsSet: boolean;
}

/**
 * Prints one finding that fired: its reason, its evidence, and its violations with the commands that answer them. `to` is null
 * if the review takes no more answers.
 */
export function printFired(
  out: Printer,
  to: AnswerTo | null,
  { finding, violations }: FiredFinding,
  source: EvidenceSource,
  view: ViolationView,
): void {
  printFinding(out, finding, source, view.extent);
  for (const violation of violations) printAsked(out, to, violation, finding, view);
}

/** Prints a violation with the command that answers it, if it waits for a person. `to`: see `printFired`. */
export function printAsked(
  out: Printer,
  to: AnswerTo | null,
  violation: ViolationStatus,
  finding: Pick<FindingProjection, 'reason'> | null,
  view: ViolationView,
): void {
  printViolation(out, violation, finding, view, to !== null);
  const waits = violation.need === 'human' && violation.resolution === 'pending';
  if (to !== null && waits)
    out.line(line`    → ${styled('cyan', answerCommand(to, view.label(violation.violationId)))}`);
}

/** `countersign answer ID --violation 5e6f7081 --confirm`, with the full id: a command that signs names one review only. */
export function answerCommand({ changeId, keyIsSet }: AnswerTo, violation: string | null): string {
  const which = violation === null ? ['--all'] : ['--violation', violation];
  const key = keyIsSet ? [] : ['--key', 'KEYFILE'];
  return shellCommand(['countersign', 'answer', changeId, ...which, '--confirm', ...key]);
}

/** `unread`: number of checks that could not read the change, of which the findings above name the error. */
export function printUnread(out: Printer, unread: number): void {
  const more = unreadText(unread);
  if (more !== null) out.line(styled('yellow', `  … ${more}`));
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
  if (more > 0) out.line(styled('yellow', `      … ${counted(more, 'more place')} (--all)`));
}

/** `finding`: what was printed above it and is not printed again. `open`: whether the review takes answers. */
export function printViolation(
  out: Printer,
  violation: ViolationStatus,
  finding: Pick<FindingProjection, 'reason'> | null,
  { extent, label }: ViolationView,
  open: boolean,
): void {
  const { violationId, resolution, callbackResult, validatorId, policyKey, need, confirmedBy, quorum } = violation;
  const of = finding === null ? `${validatorId}  ` : '';
  const by = confirmedBy.length === 0 ? '' : ` (${confirmedBy.join(', ')})`;
  const so = need === 'human' ? `${confirmedBy.length} of ${quorum} confirmed${by}` : `policy ${policyKey}`;
  const asked = need === 'human' ? `, ${askedText(violation)}` : '';
  const state = resolution === 'pending' && !open ? 'closed without enough answers' : resolution;
  out.block(`${of}${state}: ${so}${asked}`, `    ${label(violationId)} `, () => STYLES[resolution]);
  // The message can repeat the reason, alone or in its first lines.
  printText(out, withoutFirstLines(violation.message, finding?.reason ?? ''), extent);
  if (callbackResult === null) return;
  const passed = callbackResult.passed ? styled('green', 'passed') : styled('red', 'failed');
  out.line(line`      callback ${passed}`);
  if (callbackResult.message !== null) printText(out, callbackResult.message, extent);
}

function askedText({ group, mayAnswer, fourEyes, confirmedBy, quorum, resolution }: ViolationStatus): string {
  const who = mayAnswer.length === 0 ? 'no one can answer' : mayAnswer.join(', ');
  const people = new Set([...mayAnswer, ...confirmedBy]).size;
  const tooFew = resolution === 'pending' && people > 0 && people < quorum;
  const missing = tooFew ? `; too few can answer, so it cannot be confirmed` : '';
  return `of ${group}: ${who}${fourEyes ? '; four eyes' : ''}${missing}`;
}

function printText(out: Printer, text: string, extent: Extent): void {
  if (text === '') return;
  const omitted = out.block(text, '    │ ', null, extent === 'full' ? Infinity : MAX_REASON);
  if (omitted > 0) out.line(styled('yellow', `      … ${counted(omitted, 'more line')} (--all)`));
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
