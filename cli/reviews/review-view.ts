import type { AdmittedAnswer } from '../../policy/contracts/answer';
import type { ReviewStatus } from '../../policy/contracts/status';
import type { VerifiedReview } from '../../signing/verified-review';
import { line, styled, type Printable, type Printer } from '../printer';
import { shortId } from './change-id';
import { decodeUtf8, printDiff } from './diff-view';
import { answerCommand, groupFindings, printFinding, printFired, printViolation } from './finding-view';
import { shortTime, shownState, stateLine } from './state-view';
import { printStaging, shownRows, type Extent } from './staging-view';

export type ShownReview = Pick<VerifiedReview, 'status' | 'bytes' | 'staging' | 'preview' | 'answers' | 'refusals'>;

const MAX_CLAIMS = 4;
const MAX_CLAIM_LINES = 2;
const MAX_ANSWERS = 6;
/** Lines of the change and of rows together, on a screen of 50. */
const MAX_CONTENT = 26;
const MIN_STATEMENT = 6;

/**
 * Prints a review for the person who must answer it, on about 50 lines of 80 columns: what the change does, who asks and why, the
 * statement, the rows, what fired with the command that answers it, and the answers so far. What is left out is named, and `full`
 * prints it.
 */
export function printReview(out: Printer, title: string, review: ShownReview, now: Date, extent: Extent): void {
  const { status } = review;
  const full = extent === 'full';
  out.line(styled('bold', title));
  out.line(stateLine(shownState(status), now));
  field(out, 'id', status.changeId);
  const environment = status.environment ?? 'environment unknown';
  const mode = status.mode === null ? '' : `, ${status.mode}`;
  field(out, 'target', line`${status.tenant}/${status.target}  ${status.sourceTool}  ${environment}${mode}`);
  field(out, 'asked by', status.requester ?? 'unknown: the submission is not signed');
  if (full) field(out, 'fingerprint', status.fingerprint ?? 'none: no violations were disclosed');
  if (full && status.deadlineAt !== null) field(out, 'deadline', `${status.deadlineAt}; then it is rolled back`);
  for (const warning of status.warnings) out.block(warning, '  ! ', () => 'yellow');
  printClaims(out, status.metadata, extent);
  printStatement(out, review, extent);
  printStaging(out, review, extent);
  printFindings(out, review, extent);
  printAnswers(out, review, extent);
}

function field(out: Printer, name: string, value: Printable): void {
  out.line(line`  ${styled('dim', name.padEnd(12))}${value}`);
}

/** What the submitter wrote beside the bytes: claims, and members that become part of the effect, such as a commit message. */
function printClaims(out: Printer, metadata: ReviewStatus['metadata'], extent: Extent): void {
  const members = Object.entries(metadata);
  if (members.length === 0) return;
  out.line(line`${styled('bold', 'Claims of the requester')}, not verified; a commit message is part of the effect`);
  const shown = extent === 'full' ? members : members.slice(0, MAX_CLAIMS);
  let omitted = members.length - shown.length;
  for (const [name, value] of shown) {
    const text = `${JSON.stringify(name)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
    omitted += out.block(text, '  ', null, extent === 'full' ? Infinity : MAX_CLAIM_LINES);
  }
  if (omitted > 0) out.line(styled('yellow', `  … ${omitted} more lines of claims (--all)`));
}

function printStatement(out: Printer, { status, bytes, preview }: ShownReview, extent: Extent): void {
  out.line();
  const digest = extent === 'full' ? ` sha256:${status.diffSha}` : '';
  out.line(line`${styled('bold', 'Change')}${digest}${bytes === null ? '' : `, ${bytes.length} bytes`}`);
  if (bytes === null) out.line(styled('yellow', '  its bytes cannot be read here: do not answer what you cannot see'));
  else printDiff(out, status.sourceTool, bytes, extent === 'full' ? Infinity : statementLines(preview));
  out.line();
}

/** A change with few rows has more space for its text. */
function statementLines(preview: ShownReview['preview']): number {
  return Math.max(MIN_STATEMENT, MAX_CONTENT - shownRows(preview));
}

function printFindings(out: Printer, { status, bytes }: ShownReview, extent: Extent): void {
  const { changeId, diffSha } = status;
  const source = { diffSha, text: bytes === null ? null : decodeUtf8(bytes) };
  const { fired, others, passed, skipped } = groupFindings(status);
  out.line(styled('bold', `Findings that fired (${fired.length})`));
  for (const each of fired) printFired(out, changeId, each, source, extent);
  if (others.length > 0) out.line(styled('bold', `Violations without a finding (${others.length})`));
  for (const violation of others) printViolation(out, violation, '', extent);
  const { pending } = shownState(status);
  if (pending > 1) out.line(line`    all ${pending}: ${styled('cyan', answerCommand(changeId, null))}`);
  if (pending > 0) out.line(line`    or, instead of --confirm: ${styled('cyan', '--reject --reason WHY')}`);
  const skips = skipped === 0 ? '' : `, ${skipped} skipped`;
  if (extent === 'screen') out.line(line`${styled('green', `${passed} checks passed`)}${skips} (--all)`);
  else {
    out.line(line`${styled('bold', `Checks that passed (${passed})`)}${skips}`);
    for (const finding of status.findings)
      if (finding.status === 'ALLOW' || finding.status === 'SKIPPED') printFinding(out, finding, source);
  }
}

function printAnswers(out: Printer, { answers, refusals }: ShownReview, extent: Extent): void {
  const full = extent === 'full';
  if (answers.length > 0) out.line(styled('bold', `Answers (${answers.length})`));
  const shown = full ? answers : answers.slice(-MAX_ANSWERS);
  if (shown.length < answers.length)
    out.line(styled('yellow', `  … ${answers.length - shown.length} earlier answers (--all)`));
  for (const answer of shown) printAnswer(out, answer, full);
  if (refusals.length === 0) return;
  out.line(line`${styled('yellow', `${refusals.length} refused attempts`)} ${full ? '' : '(--all)'}`);
  if (!full) return;
  for (const { at, body } of refusals)
    out.block(
      `${shortTime(at)} ${String(body['code'] ?? body['check'])}: ${String(body['message'] ?? body['explanation'])}`,
      '  ',
    );
}

function printAnswer(out: Printer, answer: AdmittedAnswer, full: boolean): void {
  const { admittedAt, person, decision, violationId, signed, reason } = answer;
  const style = decision === 'confirm' ? 'green' : decision === 'reject' ? 'red' : 'yellow';
  const who = line`${styled('bold', person)} ${styled(style, decision)}${signed ? '' : styled('yellow', ' unsigned')}`;
  out.line(line`  ${shortTime(admittedAt)}  ${who} ${shortId(violationId)}${reason === '' ? '' : ':'}`);
  if (reason !== '') out.block(reason, '      ', null, full ? Infinity : MAX_CLAIM_LINES);
}
