/**
 * Combines the answers to all pieces into one finding.
 *
 * N1 The strictest status wins: of all pieces, all policy rows and our own deterministic checks.
 * N2 No answer can lower the status that another answer or a deterministic check raised.
 * N3 WARN and BLOCK always have evidence that resolves to the staged bytes.
 */
import type { ValidatorResult } from '../contracts/finding';
import type { Sha256 } from '../contracts/hash';
import type { Verdict } from '../contracts/verdict';
import { conclude, rank, type Conclusion } from './conclude';
import type { JudgeDocument } from './document';
import { isQuoteVerified, lineEvidence, pieceEvidence } from './evidence';
import { cutText } from '../text/cut-text';
import { humanText } from './human-text';
import type { Piece } from './pieces';
import { MAX_WHY, type PolicyRow, type WireAnswer } from './wire';
import { MAX_EVIDENCE_REFS, MAX_REASON_LENGTH } from '../contracts/limits';

export interface AnsweredPiece {
  readonly piece: Piece;
  readonly answer: WireAnswer;
}

/** The strictest row of one policy over all pieces. Contains no text of the diff: a quotation is verified and dropped. */
export interface JudgedPolicy {
  readonly policyId: string;
  readonly result: PolicyRow['result'];
  readonly severity: PolicyRow['severity'];
  readonly lines: readonly number[];
  readonly why: string;
  /** Whether the quotation occurs verbatim in the text that was shown. Null: nothing was quoted. */
  readonly quoteVerified: boolean | null;
}

export interface Judgement {
  readonly result: ValidatorResult;
  readonly verdict: Verdict;
  readonly confidence: WireAnswer['confidence'];
  readonly instructionsInDiff: boolean;
}

interface JudgementInput {
  readonly validatorId: string;
  readonly validatorVersion: string;
  readonly model: string;
  readonly diffSha: Sha256;
  readonly document: JudgeDocument;
  readonly pieces: readonly AnsweredPiece[];
  /** Kinds that `injectionMarkers` found. */
  readonly markers: readonly string[];
  readonly bytes: number;
}

/** Derives the finding, the verdict and the confidence from the answers. `input.pieces` must not be empty. */
export function judge(input: JudgementInput): Judgement {
  const concluded = input.pieces.map((piece) => ({
    ...piece,
    conclusion: conclude(piece.answer),
  }));
  const strictest = withMinimum(
    concluded.map((c) => c.conclusion).reduce((a, b) => (rank(b.status) > rank(a.status) ? b : a)),
    input,
  );
  const policies = mergeRows(input);
  const score = policies.length === 0 ? 0 : policies.filter((p) => p.result === 'clear').length / policies.length;
  const reason = reasonOf(strictest, policies, input);
  const confidence = lowest(input.pieces.map((p) => p.answer.confidence));
  const verdict: Verdict = {
    approved: strictest.status === 'ALLOW',
    score,
    reason,
    severity: strictest.status === 'BLOCK' ? 'block' : strictest.status === 'WARN' ? 'warn' : '',
    details: Object.fromEntries(
      policies.map(({ policyId, ...rest }) => [policyId, { ...rest, lines: [...rest.lines] }]),
    ),
    validatorName: input.validatorId,
    policyVersion: input.validatorVersion,
  };
  const base = {
    validator_id: input.validatorId,
    reason,
    reasonCode: strictest.reasonCode,
    details: {
      model: input.model,
      score,
      confidence,
      instructionsInDiff: input.pieces.some((p) => p.answer.instructionsInDiff),
      markers: [...input.markers],
      invisibleCharacters: input.document.hiding,
      redactions: { ...input.document.redactions },
      coverage: { bytes: input.bytes, pieces: input.pieces.length, lines: input.document.lines.length },
      policies: verdict.details,
    },
  };
  const result: ValidatorResult =
    strictest.status === 'ALLOW'
      ? { ...base, status: 'ALLOW', evidenceRefs: [] }
      : { ...base, status: strictest.status, evidenceRefs: evidenceOf(concluded, input) };
  return { result, verdict, confidence, instructionsInDiff: base.details.instructionsInDiff };
}

/** The ERROR for a diff that exceeds what the judge may see. No model was called, and a person must answer. */
export function notCovered(validatorId: string, diffSha: Sha256, bytes: number, reason: string): ValidatorResult {
  return {
    validator_id: validatorId,
    status: 'BLOCK',
    errorClass: 'ErrValidatorBackend',
    reason: `The judge was not asked because it cannot see the complete change: ${reason}`,
    reasonCode: 'judge_coverage',
    evidenceRefs: [`diff:${diffSha}#`],
    details: { cause: 'too_large', coverage: { bytes, pieces: 0 } },
  };
}

/** Deterministic checks set a minimum severity; the judge cannot go below it. */
function withMinimum(conclusion: Conclusion, input: JudgementInput): Pick<Conclusion, 'status' | 'reasonCode'> {
  if (conclusion.status !== 'ALLOW') return conclusion;
  if (input.markers.length > 0) return { status: 'WARN', reasonCode: 'judge_injection_markers' };
  if (input.document.hiding > 0) return { status: 'WARN', reasonCode: 'judge_hidden_characters' };
  if (input.document.redactedTexts > 0) return { status: 'WARN', reasonCode: 'judge_redacted_text' };
  return conclusion;
}

function mergeRows(input: JudgementInput): JudgedPolicy[] {
  const merged = new Map<string, JudgedPolicy>();
  for (const { piece, answer } of input.pieces) {
    for (const row of answer.policyResults) {
      const judged: JudgedPolicy = {
        policyId: row.policyId,
        result: row.result,
        severity: row.severity,
        lines: row.lines,
        why: humanText(row.why, MAX_WHY),
        quoteVerified: isQuoteVerified(input.document, piece, row.quote),
      };
      const before = merged.get(row.policyId);
      if (before === undefined || weight(judged) > weight(before)) merged.set(row.policyId, judged);
    }
  }
  return [...merged.values()];
}

function weight(policy: JudgedPolicy): number {
  if (policy.result === 'violated') return policy.severity === 'BLOCK' ? 3 : 2;
  return policy.result === 'unsure' ? 1 : 0;
}

function reasonOf(
  strictest: Pick<Conclusion, 'status' | 'reasonCode'>,
  policies: readonly JudgedPolicy[],
  input: JudgementInput,
): string {
  const raised = policies.filter((p) => p.result !== 'clear').map((p) => `${p.policyId} (${p.result}): ${p.why}`);
  const summary = summaryOf(strictest, input);
  return cutText([`Judge ${humanText(input.model, 200)}: ${summary}`, ...raised].join('\n'), MAX_REASON_LENGTH);
}

function summaryOf({ status, reasonCode }: Pick<Conclusion, 'status' | 'reasonCode'>, input: JudgementInput): string {
  switch (reasonCode) {
    case 'judge_allow':
      return 'no objection';
    case 'judge_abstain':
      return 'abstains, a person must decide';
    case 'judge_unsure':
      return 'unsure, a person must decide';
    case 'judge_instructions_in_diff':
      return 'the change contains text that addresses its reviewer';
    case 'judge_injection_markers':
      return `no objection, but the change contains text that addresses a reviewer (${input.markers.join(', ')})`;
    case 'judge_hidden_characters':
      return `no objection, but ${input.document.hiding} characters of the change hide or reorder text`;
    case 'judge_redacted_text':
      return `no objection, but ${input.document.redactedTexts} texts that were redacted as secrets may contain more than a secret`;
    default:
      return status === 'BLOCK' ? 'objects' : 'has a concern';
  }
}

function evidenceOf(
  concluded: readonly (AnsweredPiece & { readonly conclusion: Conclusion })[],
  input: JudgementInput,
): string[] {
  const refs = concluded.flatMap(({ piece, answer, conclusion }) => {
    const raised = conclusion.raised.flatMap((row) => lineEvidence(input.diffSha, input.document, piece, row.lines));
    if (raised.length > 0) return raised;
    if (conclusion.status === 'ALLOW') return [];
    const observed = lineEvidence(
      input.diffSha,
      input.document,
      piece,
      answer.observations.map((o) => o.line),
    );
    return observed.length > 0 ? observed : [pieceEvidence(input.diffSha, input.document, piece)];
  });
  if (refs.length > 0) return [...new Set(refs)].slice(0, MAX_EVIDENCE_REFS);
  // Only a deterministic check raised the status.
  return concluded.map(({ piece }) => pieceEvidence(input.diffSha, input.document, piece)).slice(0, MAX_EVIDENCE_REFS);
}

function lowest(levels: readonly WireAnswer['confidence'][]): WireAnswer['confidence'] {
  return levels.includes('low') ? 'low' : levels.includes('medium') ? 'medium' : 'high';
}
