import type { AdmittedAnswer } from '../../policy/contracts/answer';
import type { ReviewStatus } from '../../policy/contracts/status';
import type { VerifiedReview } from '../../signing/verified-review';
import { foldedExplanation } from '../../policy/rules/fold-unread';
import { counted } from '../../policy/text/counted';
import { decodeUtf8 } from '../../policy/text/utf8';
import { line, styled, type Printer } from '../printer';
import { printDiff } from './diff-view';
import {
  answerCommand,
  groupFindings,
  printFinding,
  printAsked,
  printFired,
  printUnread,
  violationLabels,
  type AnswerTo,
} from './finding-view';
import { shownState, stateLine, takesAnswers } from './state-view';
import { printStaging, shownRows, type Extent } from './staging-view';
import { shortTime } from '../../policy/text/short-time';

export type ShownReview = Pick<
  VerifiedReview,
  'status' | 'bytes' | 'staging' | 'preview' | 'answers' | 'refusals' | 'outcome'
>;

export interface AskedView extends Pick<AnswerTo, 'keyIsSet'> {
  readonly now: Date;
  readonly extent: Extent;
}

const MAX_EXPLANATION = 3;
const MAX_CLAIMS = 4;
const MAX_CLAIM_LINES = 3;
const MAX_ANSWERS = 5;
/** Lines of a screen for the change and its rows, if one finding fired; each further finding takes some of them. */
const CONTENT = 25;
const FINDING = 8;
const MIN_ROWS = 8;
const MIN_STATEMENT = 6;

/**
 * Prints a review for the person who must answer it, on about 50 lines of 80 columns: what the change does, who asks and why, the
 * statement, the rows, what fired with the command that answers it, and the answers so far. It names what it leaves out, and `full`
 * prints everything.
 */
export function printReview(out: Printer, title: string, review: ShownReview, asked: AskedView): void {
  const { status } = review;
  const { now, extent } = asked;
  const full = extent === 'full';
  out.block(title, '', () => 'bold');
  out.line(stateLine(shownState(status), now));
  if (review.outcome !== null) {
    const { explanation, findings } = review.outcome;
    if (full) out.block(explanation, '  │ ');
    else out.block(foldedExplanation(explanation, findings), '  │ ', null, MAX_EXPLANATION);
  }
  field(out, 'id', status.changeId);
  const environment = status.environment ?? 'environment unknown';
  const mode = status.mode === null ? '' : `, ${status.mode}`;
  field(out, 'target', `${status.tenant}/${status.target}  ${status.sourceTool}  ${environment}${mode}`);
  field(out, 'asked by', status.requester ?? 'unknown: the submission is not signed');
  if (full) field(out, 'fingerprint', status.fingerprint ?? 'none: no violations were disclosed');
  if (full && status.deadlineAt !== null) field(out, 'deadline', `${status.deadlineAt}; then it is rolled back`);
  for (const warning of status.warnings) out.block(warning, '  ! ', () => 'yellow');
  printClaims(out, status.metadata, extent);
  const space = CONTENT - linesAround(review);
  const rows = Math.max(MIN_ROWS, space - MIN_STATEMENT);
  const statement = Math.max(MIN_STATEMENT, space - Math.min(rows, shownRows(review.preview)));
  printStatement(out, review, full ? Infinity : statement);
  printStaging(out, review, extent, full ? Infinity : rows);
  printFindings(out, review, asked);
  printAnswers(out, review, extent);
}

/** How many more lines this review needs than one with one finding, two claims and no answer. */
function linesAround({ status, answers }: ShownReview): number {
  const { fired, others } = groupFindings(status);
  const claims = Math.min(MAX_CLAIMS, Object.keys(status.metadata).length);
  const more = (count: number, usual: number): number => Math.max(0, count - usual);
  return FINDING * more(fired.length + others.length, 1) + more(claims, 2) + 2 * Math.min(MAX_ANSWERS, answers.length);
}

function field(out: Printer, name: string, value: string): void {
  out.block(value, `  ${name.padEnd(12)}`);
}

/** What the submitter sent in addition to the bytes: claims, and members that become part of the effect, such as a commit message. */
function printClaims(out: Printer, metadata: ReviewStatus['metadata'], extent: Extent): void {
  const members = Object.entries(metadata);
  if (members.length === 0) return;
  out.line(line`${styled('bold', 'Claims of the requester')}, not verified; a commit message is part of the effect`);
  const shown = extent === 'full' ? members : members.slice(0, MAX_CLAIMS);
  let omitted = members.length - shown.length;
  for (const [name, value] of shown) {
    const text = `${JSON.stringify(name)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
    omitted += out.block(text, '  │ ', null, extent === 'full' ? Infinity : MAX_CLAIM_LINES);
  }
  if (omitted > 0) out.line(styled('yellow', `  … ${counted(omitted, 'more line')} of claims (--all)`));
}

function printStatement(out: Printer, { status, bytes }: ShownReview, max: number): void {
  const size = bytes === null ? '' : `, ${counted(bytes.length, 'byte')}`;
  out.line(line`${styled('bold', 'Change')} sha256:${status.diffSha}${max === Infinity ? size : ''}`);
  if (bytes === null) out.line(styled('yellow', '  its bytes cannot be read here: do not answer what you cannot see'));
  else printDiff(out, status.sourceTool, bytes, max);
}

function printFindings(out: Printer, { status, bytes }: ShownReview, { extent, keyIsSet }: AskedView): void {
  const { changeId, diffSha } = status;
  const to = takesAnswers(status.state) ? { changeId, keyIsSet } : null;
  const view = { extent, label: violationLabels(status) };
  const source = { diffSha, text: bytes === null ? null : decodeUtf8(bytes) };
  const { fired, unread, others, passed, skipped } = groupFindings(status);
  const { pending } = shownState(status);
  const reject = to === null || pending === 0 ? '' : '; to reject: --reject --reason WHY, without --confirm';
  out.line(line`${styled('bold', `Findings that fired (${fired.length + unread.length})`)}${reject}`);
  for (const each of extent === 'full' ? [...fired, ...unread] : fired) printFired(out, to, each, source, view);
  if (extent === 'screen') printUnread(out, unread.length);
  if (others.length > 0) out.line(styled('bold', `Violations without a finding (${others.length})`));
  for (const violation of others) printAsked(out, to, violation, null, view);
  if (to !== null && pending > 1) out.line(line`    → all ${pending}: ${styled('cyan', answerCommand(to, null))}`);
  const skips = skipped === 0 ? '' : `, ${skipped} skipped`;
  if (extent === 'screen') out.line(line`${styled('green', `${counted(passed, 'check')} passed`)}${skips} (--all)`);
  else {
    out.line(line`${styled('bold', `Checks that passed (${passed})`)}${skips}`);
    for (const finding of status.findings)
      if (finding.status === 'ALLOW' || finding.status === 'SKIPPED') printFinding(out, finding, source);
  }
}

function printAnswers(out: Printer, { status, answers, refusals }: ShownReview, extent: Extent): void {
  const label = violationLabels(status);
  const full = extent === 'full';
  if (answers.length > 0) out.line(styled('bold', `Answers (${answers.length})`));
  const shown = full ? answers : answers.slice(-MAX_ANSWERS);
  if (shown.length < answers.length)
    out.line(styled('yellow', `  … ${counted(answers.length - shown.length, 'earlier answer')} (--all)`));
  for (const answer of shown) printAnswer(out, answer, label(answer.violationId), full);
  if (refusals.length === 0) return;
  out.line(line`${styled('yellow', counted(refusals.length, 'refused attempt'))} ${full ? '' : '(--all)'}`);
  if (!full) return;
  for (const { at, body } of refusals)
    out.block(
      `${shortTime(at)} ${String(body['code'] ?? body['check'])}: ${String(body['message'] ?? body['explanation'])}`,
      '  ',
    );
}

function printAnswer(out: Printer, answer: AdmittedAnswer, violation: string, full: boolean): void {
  const { admittedAt, person, decision, signed, reason } = answer;
  const style = decision === 'confirm' ? 'green' : decision === 'reject' ? 'red' : 'yellow';
  const who = line`${styled('bold', person)} ${styled(style, decision)}${signed ? '' : styled('yellow', ' unsigned')}`;
  out.line(line`  ${shortTime(admittedAt)}  ${who} ${violation}${reason === '' ? '' : ':'}`);
  if (reason !== '') out.block(reason, '      ', null, full ? Infinity : MAX_CLAIM_LINES);
}
