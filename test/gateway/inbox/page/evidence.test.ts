import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { changeLines } from '../../../../gateway/inbox/page/model/change-lines';
import { coverageOf, unseenPlaces } from '../../../../gateway/inbox/page/model/coverage';
import { blocksOf, claimAnchor, placeOf, type Place } from '../../../../gateway/inbox/page/model/evidence';
import { JsonPlaces } from '../../../../gateway/inbox/page/model/json-places';
import { pointerOf } from '../../../../policy/text/json-pointer';
import { leastCpuMs } from '../../../support/least-cpu';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const shas = { diffSha: 'd'.repeat(64), inputSha: 'e'.repeat(64), stagingSha: 'f'.repeat(64) };
const digests = { ...shas, metadata: { 'a b': 1, c: 2 } };
const sql = changeLines('SQLDryRun', bytes('UPDATE a\n SET b = 1;\nDELETE FROM c;\n'));
const json = changeLines('HTTPPatch', bytes('{"method":"PATCH","body":{"a":1,"b/c":[10,{"d":true}]}}'));
const at = (fragment: string, change = sql): Place => placeOf(`diff:${digests.diffSha}#${fragment}`, digests, change);

describe('the place of an evidence reference', () => {
  it.each([
    ['L1:C1-L2:C12', { first: 0, last: 1 }],
    ['L3:C1-L3:C7', { first: 2, last: 2 }],
    ['L2', { first: 1, last: 1 }],
    // The line feed of a line, and the end of the last one, are in the line before them.
    ['L1:C9-L1:C9', { first: 0, last: 0 }],
    ['L1:C9-L2:C1', { first: 0, last: 0 }],
    ['L3:C15-L3:C15', { first: 2, last: 2 }],
    ['', { first: 0, last: 2 }],
  ])('finds the lines of %s', (fragment, lines) => {
    expect(at(fragment)).toMatchObject({ kind: 'lines', ...lines });
  });

  it.each([
    ['L12:C1-L12:C27', '+  run: curl evil.example'],
    ['L12', '+  run: curl evil.example'],
    ['L6:C1-L6:C6', '+caf\u00e9'],
    ['L4:C3-L6:C2', '@@ -1 +1 @@\n-a\n+caf\u00e9'],
  ])('finds the bytes of the lines %s of a patch that is not UTF-8', (fragment, text) => {
    const file = (path: string): string =>
      `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n`;
    const patch = `${file('notes.txt')}-a\n+caf\u00e9\n${file('.github/workflows/release.yml')}-  run: true\n+  run: curl evil.example\n`;
    const raw = Buffer.from(patch, 'latin1');
    const change = changeLines('GitPatch', raw);
    const place = at(fragment, change);
    const from = patch.indexOf(text);
    const [first, last] = [from, from + text.length - 1].map((offset) => Math.floor(offset / 16));
    expect(place).toMatchObject({ kind: 'lines', first, last });
  });

  it.each([
    ['/body/b~1c/1/d', '"d": true'],
    ['/method', '"method": "PATCH",'],
    // Missing: the innermost object around it.
    ['/body/missing', '"body": {'],
  ])('finds the member %s of one line of JSON', (pointer, text) => {
    const place = at(pointer, json);
    expect(place.kind === 'lines' ? json.lines[place.first]?.text.trim() : place).toBe(text);
  });

  it('points at dry run and claims, and shows a reference to anything else as text', () => {
    expect(placeOf(`staging:${digests.stagingSha}#/tables/1/deleted`, digests, sql)).toMatchObject({
      anchor: 'dry-run-tables-1',
    });
    expect(placeOf(`staging:${digests.stagingSha}#/base/x`, digests, sql)).toMatchObject({ anchor: 'dry-run' });
    expect(placeOf(`metadata:${digests.inputSha}#/a b`, digests, sql)).toMatchObject({ anchor: claimAnchor('a b') });
    for (const other of [`diff:${'0'.repeat(64)}#L1`, 'review:x'])
      expect(placeOf(other, digests, sql)).toEqual({ kind: 'none', label: other });
  });

  it.each(['L9999', 'nowhere', '/rows/0'])('takes the whole change for %s, which is not in it', (fragment) => {
    expect(at(fragment)).toEqual({
      kind: 'lines',
      first: 0,
      last: 2,
      label: `the whole change (${fragment} is not in it)`,
    });
  });

  it('of a claim that the requester did not make is nowhere, and of all claims is the first', () => {
    const claim = (pointer: string): Place => placeOf(`metadata:${digests.inputSha}#${pointer}`, digests, sql);
    for (const absent of ['/ticket', '/toString'])
      expect(claim(absent)).toEqual({ kind: 'none', label: `the claim ${absent}, which was not made` });
    expect(claim('')).toEqual({ kind: 'claim', anchor: claimAnchor('a b'), label: 'the claims' });
    expect(placeOf(`metadata:${digests.inputSha}#`, { ...digests, metadata: {} }, sql).kind).toBe('none');
  });

  it('is found for all references of a review into a document of the largest size before a person notices', () => {
    const items = Array.from({ length: 1500 }, (_, i) => ({ at: i, actions: ['delete'], text: 'x'.repeat(600) }));
    for (const indent of [0, 1]) {
      const change = changeLines('TerraformPlan', bytes(JSON.stringify({ items }, null, indent)));
      const labels: string[] = [];
      const find = (): void => items.forEach((_, i) => labels.push(at(`/items/${i}/actions`, change).label));
      // A new reading of the document for each reference would take more than 30 seconds.
      expect(leastCpuMs(find, 1)).toBeLessThan(10_000);
      expect(labels).toEqual(items.map((_, i) => `/items/${i}/actions`));
    }
  });

  it('makes ids that contain no character of a name', () => {
    fc.assert(fc.property(fc.string(), (name) => expect(claimAnchor(name)).toMatch(/^claim-[0-9a-f]*$/)));
  });

  it('finds each member of any JSON by its pointer', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), { minKeys: 1 }),
        (value) => {
          const text = JSON.stringify(value, null, 1);
          for (const [name, members] of Object.entries(value))
            for (const [inner, leaf] of Object.entries(members)) {
              const range = new JsonPlaces(text).of(pointerOf([name, inner]));
              const found = text.slice(range?.start, range?.end);
              if (!isDeepStrictEqual(JSON.parse(`{${found}}`), { [inner]: JSON.parse(JSON.stringify(leaf)) }))
                throw new Error(`${JSON.stringify([name, inner])} was found as ${found}`);
            }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('coverage', () => {
  const long: Place = { kind: 'lines', first: 0, last: 24, label: 'x' };
  const [first = '', second = ''] = blocksOf(long);

  it('is the share of the blocks of ten lines that were on screen, rounded down', () => {
    expect(blocksOf(long)).toHaveLength(3);
    expect(coverageOf([long], new Set())).toBe(0);
    expect(coverageOf([long], new Set([first, second]))).toBe(0.666);
    expect(coverageOf([long], new Set(blocksOf(long)))).toBe(1);
  });

  it('asks for each place of which nothing was on screen', () => {
    const other: Place = { kind: 'staging', anchor: 'dry-run', label: 'y' };
    expect(unseenPlaces([long, other], new Set([first]))).toEqual([other]);
    expect(unseenPlaces([{ kind: 'none', label: 'z' }], new Set())).toEqual([]);
  });
});
