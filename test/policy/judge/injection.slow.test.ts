import { sha256HexOfText } from '../../../policy/contracts/hash';
import { DEFAULT_POLICIES } from '../../../policy/judge/default-policies';
import { makeDocument } from '../../../policy/judge/document';
import { objectsInText } from '../../../compat/flyto/objects-in-text';
import { splitDocument } from '../../../policy/judge/pieces';
import { nonceOf, userMessage } from '../../../policy/judge/prompt';
import { readAnswer } from '../../../policy/judge/read-answer';
import { foreignInjections, OWN_INJECTIONS, placed, type Placed } from './injection-corpus';
import { ourTools, plainTool } from '../../support/source-tools';

const KEY = new Uint8Array(32).fill(3);
const LOGIC = 'a'.repeat(64);
const POLICY_IDS = DEFAULT_POLICIES.map((p) => p.id);

interface Shown {
  readonly nonce: string;
  readonly message: string;
}

function show({ sourceTool, diff, metadata }: Placed): Shown {
  const raw = new TextEncoder().encode(diff);
  const renderer = (ourTools.get(sourceTool) ?? plainTool).render;
  const made = makeDocument({
    maxBytes: 2 ** 20,
    raw,
    metadata,
    renderer,
    metadataKeys: ['table_name'],
    proseKeys: ['rationale'],
  });
  if (!made.ok) throw new Error(made.reason);
  const split = splitDocument(made.document, 98_304, 8);
  if (!split.ok) throw new Error(split.reason);
  const nonce = nonceOf(KEY, sha256HexOfText(diff), LOGIC);
  const piece = split.pieces[0];
  if (piece === undefined) throw new Error('no piece');
  return {
    nonce,
    message: userMessage({
      document: made.document,
      piece,
      index: 0,
      pieces: 1,
      nonce,
      sourceTool,
      policyIds: POLICY_IDS,
    }),
  };
}

const all = [...OWN_INJECTIONS, ...foreignInjections()].flatMap(placed);

describe('injected text', () => {
  it('has a corpus of at least 40 own strings in five positions', () => {
    expect(OWN_INJECTIONS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(all.map((p) => p.position)).size).toBe(5);
  });

  it('cannot produce a line without a mark, a forged mark, the nonce or a second header', () => {
    const failures: unknown[] = [];
    for (const one of all) {
      const { nonce, message } = show(one);
      // Every character that a reader may treat as a line end.
      const [header = '', ...lines] = message.split(/[\n\r\u000b\u000c\u0085\u2028\u2029]/);
      const mark = `\u27e6${nonce}\u27e7`;
      const unmarked = lines.filter((line) => !new RegExp(`^${mark}(?:[MP]?[1-9][0-9]*)\\+?\u2502`).test(line));
      const forged = lines.filter((line) =>
        line
          .slice(mark.length)
          .replace(/\u27e6U\+[0-9A-F]{4,6}\u27e7/g, '')
          .includes('\u27e6'),
      );
      const hits = lines.filter((line) => line.slice(mark.length).includes(nonce));
      const text = one.diff + JSON.stringify(one.metadata);
      if (unmarked.length + forged.length + hits.length > 0 || text.includes(nonce) || !header.includes(nonce))
        failures.push({ one, unmarked, forged, hits });
    }
    expect(failures).toEqual([]);
  });

  it('is rendered with visible characters only', () => {
    for (const one of all)
      expect(show(one).message).not.toMatch(
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u,
      );
  });

  it('does not contain the canary, so that a judge that echoes a verdict from the diff is rejected', () => {
    let echoes = 0;
    for (const one of all) {
      const { nonce, message } = show(one);
      const data = message.split('\n').slice(1).join('\n');
      const found = objectsInText(data);
      const echoed = found.ok ? found.objects.map((o) => JSON.stringify(o.value)) : [];
      for (const raw of [...echoed, data.slice(0, 60_000), one.diff]) {
        if (raw.includes('verdict')) echoes++;
        const read = readAnswer(raw, { policyIds: POLICY_IDS, canary: nonce, piece: null });
        expect(read.ok).toBe(false);
      }
    }
    expect(echoes).toBeGreaterThan(20);
  });

  it('gets a deterministic nonce that differs for each diff and each judge logic', () => {
    const sha = sha256HexOfText('x');
    expect(nonceOf(KEY, sha, LOGIC)).toBe(nonceOf(KEY, sha, LOGIC));
    const others = [
      nonceOf(KEY, sha256HexOfText('y'), LOGIC),
      nonceOf(KEY, sha, 'b'.repeat(64)),
      nonceOf(new Uint8Array(32).fill(4), sha, LOGIC),
    ];
    expect(new Set([nonceOf(KEY, sha, LOGIC), ...others]).size).toBe(4);
  });
});
