import { createHash } from 'node:crypto';
import { of, type Review, type Rule } from './review';

/** K5 and K7: which rows a review has, in which order, and that its workflow has ended with it. */
export const ROWS: readonly Rule[] = [
  chain,
  exactlyOne,
  atMostOne,
  oncePerDryRun,
  inOrder,
  nothingAfterTheEnd,
  workflowEnded,
  oneOutcome,
];

const EXACTLY_ONE = ['submitted', 'planned', 'effect', 'receipt', 'closed', 'head'];
const AT_MOST_ONE = ['disclosed', 'intent', 'decided'];
const IN_ORDER = [
  'submitted',
  'planned',
  'staged',
  'disclosed',
  'intent',
  'decided',
  'effect',
  'receipt',
  'closed',
  'head',
];

const AFTER_HEAD = ['answer_refused', 'refused', 'spent', 'repaired'];
const AFTER_SETTLEMENT = ['resolved', 'effect', 'receipt', 'closed', 'head', ...AFTER_HEAD];

function chain({ changeId, lines }: Review): string[] {
  let prev = '0'.repeat(64);
  for (const [i, line] of lines.entries()) {
    const text =
      `{"actor":${JSON.stringify(line.actor)},"at":"${line.at}","body":${line.body},"changeId":"${changeId}",` +
      `"kind":"${line.kind}","n":${line.n},"prev":"${line.prev}","type":"countersign/ledger/v1"}`;
    if (line.n !== i || line.prev !== prev || createHash('sha256').update(text).digest('hex') !== line.hash)
      return [`K7: the hash chain of the ledger is broken at row ${i}`];
    prev = line.hash;
  }
  return [];
}

function exactlyOne({ lines }: Review): string[] {
  return EXACTLY_ONE.flatMap((kind) => {
    const count = of(lines, kind).length;
    return count === 1 ? [] : [`K5: ${count} ledger rows of kind ${kind}`];
  });
}

function atMostOne({ lines }: Review): string[] {
  return AT_MOST_ONE.flatMap((kind) => {
    const count = of(lines, kind).length;
    return count <= 1 ? [] : [`K5: ${count} ledger rows of kind ${kind}`];
  });
}

/**
 * A dry run whose attempt is lost is repeated. An attempt that was overtaken writes its record too, also after the disclosure; K4 says
 * which one counts.
 */
function oncePerDryRun({ lines }: Review): string[] {
  const records = of(lines, 'staged').map(({ parsed }) => parsed['stagingSha'] ?? null);
  return new Set(records).size === records.length ? [] : ['K5: two ledger rows of one dry run'];
}

function inOrder({ lines }: Review): string[] {
  const [firstStaged] = of(lines, 'staged');
  const known = of(lines, ...IN_ORDER).filter((line) => line.kind !== 'staged' || line === firstStaged);
  return known.flatMap((line, i) => {
    const before = known[i - 1];
    return before === undefined || IN_ORDER.indexOf(before.kind) <= IN_ORDER.indexOf(line.kind)
      ? []
      : [`K5: the row ${line.kind} follows the row ${before.kind}`];
  });
}

function nothingAfterTheEnd({ lines, beforeSettlement }: Review): string[] {
  const head = lines.findIndex(({ kind }) => kind === 'head');
  return lines.flatMap(({ kind }, i) => {
    if (head !== -1 && i > head && !AFTER_HEAD.includes(kind)) return [`K5: a row ${kind} after the row head`];
    // The row at `beforeSettlement.length` is the settlement.
    if (i > beforeSettlement.length && !AFTER_SETTLEMENT.includes(kind))
      return [`K5: a row ${kind} after the settlement`];
    return [];
  });
}

function workflowEnded({ workflow, lines }: Review): string[] {
  if (workflow === null) return [];
  const { status, outcome, resets } = workflow;
  const repaired = of(lines, 'repaired').filter(({ parsed }) => parsed['did'] === 'reset').length;
  return [
    ...(status === 'COMPLETED' ? [] : [`K5: the workflow is ${status}`]),
    ...(status === 'COMPLETED' && outcome === null ? ['K5: the workflow completed without an outcome'] : []),
    ...(resets > repaired ? [`K5: the workflow was reset ${resets} times, by the reconciler ${repaired} times`] : []),
  ];
}

/** Of the rows `effect` and `closed` and of the workflow. K6 compares the receipt with them. */
function oneOutcome({ workflow, lines }: Review): string[] {
  const states = new Set(of(lines, 'effect', 'closed').map(({ parsed }) => String(parsed['state'])));
  if (workflow?.outcome != null) states.add(String(workflow.outcome['state']));
  return states.size > 1 ? [`K5: two outcomes: ${[...states].join(', ')}`] : [];
}
