import type { ExplainedFinding, Explanation } from '../../policy/bundle/explain';
import { unreadText } from '../../policy/rules/fold-unread';
import type { Io } from '../action';
import { line, styled, type Style } from '../printer';

const STYLES: Readonly<Record<string, Style>> = { BLOCK: 'red', ERROR: 'red', WARN: 'yellow', ALLOW: 'green' };

/** Prints one block for each finding: the rule, why it exists, the places, and who must answer. */
export function printExplanation(io: Io, explanation: Explanation): void {
  const { outcome, target, sourceTool, facts, findings, unread, skipped, shadow } = explanation;
  io.out.line(line`${styled('bold', outcome)}  ${target}/${sourceTool}`);
  if ('refused' in facts) io.out.line(line`no facts could be read: ${facts.refused}: ${facts.message}`);
  for (const finding of findings) printFinding(io, finding);
  const more = unreadText(unread.length);
  if (more !== null) {
    io.out.line();
    io.out.line(more);
  }
  if (shadow.length > 0) {
    io.out.line();
    io.out.line('in shadow mode, without effect on the decision:');
    for (const finding of shadow) printFinding(io, finding);
  }
  if (skipped.length > 0) io.out.line(`not run here: ${skipped.join(', ')}`);
}

function printFinding(io: Io, finding: ExplainedFinding): void {
  const { out } = io;
  out.line();
  out.line(
    line`${styled(STYLES[finding.status] ?? 'bold', finding.waiver === null ? finding.status : 'WAIVED')} ${styled('bold', finding.validatorId)}  ${finding.class}, level ${finding.level}`,
  );
  out.block(finding.reason, '    ');
  if (finding.thrown !== undefined) out.block(finding.thrown, '      ');
  if (finding.why !== '') out.line(line`    why: ${finding.why}`);
  out.line(line`    rule: ${finding.rule} ${finding.version}, reads ${finding.reads.join(', ')}; see ${finding.docs}`);
  for (const { ref, region } of finding.places)
    out.line(
      region === null ? line`    at: ${ref}` : line`    at: line ${region.startLine}, column ${region.startColumn}`,
    );
  for (const policy of finding.policies) {
    const callback = policy.callback === null ? '' : `, callback ${policy.callback}`;
    const who = policy.requiresConfirmation
      ? `${policy.quorum} of ${policy.group} must confirm`
      : 'no one must confirm';
    out.line(line`    policy: ${policy.key}: ${who}${callback}`);
  }
  if (finding.waiver !== null)
    out.line(line`    waiver: ${finding.waiver.id} until ${finding.waiver.expiresAt}: ${finding.waiver.reason}`);
}
