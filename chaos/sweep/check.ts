/**
 * The sweep's checker. It uses only what it reads from the target, the ledger rows and the workflow history, and shares no
 * code with the system that it checks.
 *
 * K1 At most one effect per change.
 * K2 Marker with an effect ⇔ effect in the target ⇔ `COMMITTED` in the ledger. Without markers, the latter two.
 * K3 No effect unless every required answer was accepted before the intent; no effect after a reject, after a SAFETY BLOCK,
 *    or if a POLICY finding was not disclosed.
 * K4 Intent before effect: the intent row is written before the marker's transaction and is the only settlement.
 * K5 Each review is terminal and has one outcome: one effect row, one receipt, one closing row and a completed workflow. Only the
 *    reconciler reset it, which leaves a row for each reset.
 * K6 The receipt is signed by the committer and agrees with ledger, marker and workflow.
 * K7 The hash chain of the review is intact.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';

export interface LedgerLine {
  readonly n: number;
  readonly prev: string;
  readonly hash: string;
  readonly kind: string;
  readonly at: string;
  readonly actor: string;
  /** The stored text; the hash covers exactly this text. */
  readonly body: string;
}

export interface Observed {
  readonly changeId: string;
  /** How often the change was applied to its row. */
  readonly effects: number;
  /** `effect` is null if the marker has none; `at` is null if the target does not record it. HTTP targets have no markers. */
  readonly marker:
    { readonly effect: Readonly<Record<string, unknown>> | null; readonly at: Date | null } | null | 'not kept';
  readonly ledger: readonly LedgerLine[];
  /** Null if the committer was called without a workflow. */
  readonly workflow: {
    readonly status: string;
    readonly outcome: Readonly<Record<string, unknown>> | null;
    /** Resets in the history of the last run. */
    readonly resets: number;
  } | null;
}

type Body = Readonly<Record<string, unknown>>;
interface Line extends LedgerLine {
  readonly parsed: Body;
}

/** The violated invariants, as `K2: …`; empty if there are none. `committer` is the committer's public key, 64 hex digits. */
export function violationsOf(observed: Observed, committer: string): string[] {
  const lines = observed.ledger.map((line): Line => ({ ...line, parsed: JSON.parse(line.body) as Body }));
  const committed = of(lines, 'closed').some(({ parsed }) => parsed['state'] === 'COMMITTED');
  return [
    ...chain(observed.changeId, lines),
    ...terminal(observed, lines),
    ...oneEffect(observed, committed),
    ...settlement(observed, lines, committed),
    ...(observed.effects > 0 ? answers(lines) : []),
    ...receipt(observed, lines, committer),
  ];
}

/** Kinds of ledger rows of which a review has at most one, even after retries. */
const ONCE = ['submitted', 'planned', 'staged', 'disclosed', 'intent', 'decided', 'effect', 'receipt', 'closed'];

/** The differences from the outcome that a case requires; empty if there are none. */
export function outcomeDifferences(
  { workflow, ledger }: Observed,
  expected: { readonly state: string; readonly reason: string | null },
): string[] {
  const outcome = workflow?.outcome ?? {};
  const [state, reason] = [outcome['state'], outcome['reason']];
  const found = ONCE.flatMap((kind) => {
    const rows = ledger.filter((line) => line.kind === kind).length;
    return rows > 1 ? [`${rows} ledger rows of kind ${kind}`] : [];
  });
  if (state !== expected.state || reason !== expected.reason)
    found.push(`expected ${expected.state} ${expected.reason ?? ''}, got ${String(state)} ${String(reason)}`);
  return found;
}

/** What the reconciler did about a review, by a row `repaired`. */
export interface Repaired {
  readonly did: string;
  /** The kind of problem that it found. */
  readonly found: string;
  readonly explanation: string;
}

export function repairsOf({ ledger }: Pick<Observed, 'ledger'>): Repaired[] {
  return ledger
    .filter(({ kind }) => kind === 'repaired')
    .map(({ body }) => {
      const { did, found, explanation } = JSON.parse(body) as Body;
      return { did: String(did), found: String(found), explanation: String(explanation) };
    });
}

const of = (lines: readonly Line[], kind: string): Line[] => lines.filter((line) => line.kind === kind);

function chain(changeId: string, lines: readonly Line[]): string[] {
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

function terminal({ workflow }: Observed, lines: readonly Line[]): string[] {
  const found: string[] = [];
  for (const kind of ['submitted', 'planned', 'effect', 'receipt', 'closed'])
    if (of(lines, kind).length !== 1) found.push(`K5: ${of(lines, kind).length} ledger rows of kind ${kind}`);
  if (of(lines, 'disclosed').length > 1) found.push('K5: more than one disclosure');
  if (workflow !== null && workflow.status !== 'COMPLETED') found.push(`K5: the workflow is ${workflow.status}`);
  const resets = of(lines, 'repaired').filter(({ parsed }) => parsed['did'] === 'reset').length;
  if (workflow !== null && workflow.resets > resets)
    found.push(`K5: the workflow was reset ${workflow.resets} times, by the reconciler ${resets} times`);
  const states = new Set([
    ...[...of(lines, 'closed'), ...of(lines, 'effect')].map(({ parsed }) => String(parsed['state'])),
    ...(workflow?.outcome == null ? [] : [String(workflow.outcome['state'])]),
  ]);
  if (states.size > 1) found.push(`K5: two outcomes: ${[...states].join(', ')}`);
  return found;
}

function oneEffect({ effects, marker }: Observed, committed: boolean): string[] {
  const found: string[] = [];
  if (effects < 0 || effects > 1) found.push(`K1: ${effects} effects`);
  if (marker === 'not kept') {
    if (effects > 0 !== committed)
      found.push(`K2: ${effects} effects, but the ledger says ${committed ? '' : 'not '}COMMITTED`);
    return found;
  }
  const marked = marker !== null && marker.effect !== null && marker.effect['sealed'] !== true;
  if (marker !== null && marker.effect === null) found.push('K2: a marker without an effect');
  if (marked !== effects > 0) found.push(`K2: ${marked ? 'a' : 'no'} marker, but ${effects} effects`);
  if (marked !== committed)
    found.push(`K2: ${marked ? 'a' : 'no'} marker, but the ledger says ${committed ? '' : 'not '}COMMITTED`);
  return found;
}

function settlement({ marker }: Observed, lines: readonly Line[], committed: boolean): string[] {
  const settlements = [...of(lines, 'intent'), ...of(lines, 'decided')];
  if (settlements.length !== 1) return [`K4: ${settlements.length} settlements`];
  const [intent] = of(lines, 'intent');
  const [effect] = of(lines, 'effect');
  if (!committed) return [];
  if (intent === undefined) return ['K4: committed without an intent'];
  if (effect !== undefined && effect.n <= intent.n) return ['K4: the effect row precedes the intent row'];
  const at = marker === null || marker === 'not kept' ? null : marker.at;
  if (at !== null && at.getTime() < Date.parse(intent.at)) return ['K4: the target was written before the intent'];
  return [];
}

function answers(lines: readonly Line[]): string[] {
  const found: string[] = [];
  const intentAt = of(lines, 'intent')[0]?.n ?? -1;
  const [disclosed] = of(lines, 'disclosed');
  const fired = of(lines, 'findings')
    .flatMap(({ parsed }) => parsed['findings'] as readonly Body[])
    .filter(({ status }) => status !== 'ALLOW');
  if (fired.some((finding) => finding['class'] === 'SAFETY' && finding['status'] === 'BLOCK'))
    found.push('K3: committed despite a SAFETY BLOCK');
  if (disclosed === undefined) {
    if (fired.some((finding) => finding['class'] === 'POLICY'))
      found.push('K3: committed, but the findings that fired were not disclosed');
    return found;
  }
  const given = of(lines, 'answer_accepted').filter(
    ({ n, parsed }) => n < intentAt && parsed['fingerprint'] === disclosed.parsed['fingerprint'],
  );
  for (const violation of disclosed.parsed['violations'] as readonly Body[]) {
    if (violation['need'] === 'hard') found.push('K3: committed despite a hard block');
    if (violation['need'] !== 'human') continue;
    const matching = given.filter(({ parsed }) => parsed['violationId'] === violation['violationId']);
    const people = (decision: string): Set<unknown> =>
      new Set(matching.filter(({ parsed }) => parsed['decision'] === decision).map(({ parsed }) => parsed['person']));
    if (people('reject').size > 0) found.push('K3: committed despite a reject');
    if (people('confirm').size < Number(violation['quorum']))
      found.push(`K3: committed with ${people('confirm').size} of ${String(violation['quorum'])} answers`);
  }
  return found;
}

const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

function receipt(
  { changeId, effects, marker, workflow }: Observed,
  lines: readonly Line[],
  committer: string,
): string[] {
  const [row] = of(lines, 'receipt');
  if (row === undefined) return [];
  const envelope = row.parsed['envelope'] as { payloadType: string; payload: string; signatures: { sig: string }[] };
  const payload = Buffer.from(envelope.payload, 'base64');
  const signed = Buffer.concat([
    Buffer.from(`DSSEv1 ${Buffer.byteLength(envelope.payloadType)} ${envelope.payloadType} ${payload.length} `),
    payload,
  ]);
  const key = createPublicKey({
    key: Buffer.concat([SPKI, Buffer.from(committer, 'hex')]),
    format: 'der',
    type: 'spki',
  });
  if (!verify(null, signed, key, Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64')))
    return ['K6: the receipt is not signed by the committer'];
  const { predicate } = JSON.parse(payload.toString('utf8')) as { predicate: Body };
  const found: string[] = [];
  if (predicate['changeId'] !== changeId) found.push('K6: the receipt is for another change');
  if ((predicate['state'] === 'COMMITTED') !== effects > 0)
    found.push(`K6: the receipt says ${String(predicate['state'])}, but there are ${effects} effects`);
  if (predicate['state'] === 'COMMITTED' && marker !== 'not kept' && !sameJson(predicate['effect'], marker?.effect))
    found.push('K6: receipt and marker name different effects');
  if (predicate['state'] !== of(lines, 'closed')[0]?.parsed['state']) found.push('K6: receipt and ledger differ');
  const outcome = workflow?.outcome ?? null;
  if (outcome !== null && (outcome['state'] !== predicate['state'] || outcome['reason'] !== predicate['reason']))
    found.push(`K6: the receipt says ${String(predicate['state'])}, but the workflow ${String(outcome['state'])}`);
  if (outcome !== null && !sameJson(outcome['receipt'], envelope))
    found.push('K6: the workflow returned another receipt');
  return found;
}

function sameJson(a: unknown, b: unknown): boolean {
  return sorted(a) === sorted(b);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) =>
    v !== null && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([x], [y]) => (x < y ? -1 : 1)))
      : v,
  );
}
