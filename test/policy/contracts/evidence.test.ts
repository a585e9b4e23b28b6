import * as facts from '../../../policy/contracts/facts';

const SHA = 'a'.repeat(64);
const SPAN = { startLine: 3, startColumn: 5, endLine: 3, endColumn: 20 };
const { diffEvidence, metadataEvidence, pointerEvidence, stagingEvidence } = facts as unknown as Record<
  'diffEvidence' | 'metadataEvidence' | 'pointerEvidence' | 'stagingEvidence',
  (...args: unknown[]) => string
>;

it('names a place in the diff, the metadata or the staging record', () => {
  expect([
    diffEvidence(SHA, SPAN),
    pointerEvidence(SHA, '/a/0'),
    pointerEvidence(SHA, ''),
    metadataEvidence(SHA, '/a'),
    stagingEvidence(SHA, '/a'),
  ]).toEqual([
    `diff:${SHA}#L3:C5-L3:C20`,
    `diff:${SHA}#/a/0`,
    `diff:${SHA}#`,
    `metadata:${SHA}#/a`,
    `staging:${SHA}#/a`,
  ]);
});

it.each<[string, () => string, string]>([
  ['no span', () => diffEvidence(SHA), 'span: expected {startLine,'],
  ['null as span', () => diffEvidence(SHA, null), 'span: expected {startLine,'],
  ['a span without its end', () => diffEvidence(SHA, { startLine: 1, startColumn: 1 }), 'span: expected {startLine,'],
  ['a span that starts at 0', () => diffEvidence(SHA, { ...SPAN, startColumn: 0 }), 'span: expected {startLine,'],
  [
    'the diff instead of its digest',
    () => diffEvidence({ diffSha: SHA }, SPAN),
    'diff: expected a digest and a place as text, got object and string',
  ],
  [
    'no digest',
    () => metadataEvidence(undefined, '/a'),
    'metadata: expected a digest and a place as text, got undefined and string',
  ],
  ['no pointer', () => pointerEvidence(SHA), 'got string and undefined'],
  ['null as pointer', () => stagingEvidence(SHA, null), 'got string and object'],
])('refuses %s, so that no finding names a place that does not exist', (_, make, message) => {
  expect(make).toThrow(message);
});
