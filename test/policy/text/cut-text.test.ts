import fc from 'fast-check';
import { canonicalJson, isWellFormed } from '../../../policy/contracts/canonical-json';
import { MAX_EXPLANATION_LENGTH, MAX_REASON_LENGTH } from '../../../policy/contracts/limits';
import { outcomeOf } from '../../../policy/rules/hit';
import { clip, cutExplanation, cutText } from '../../../policy/text/cut-text';
import { anyText } from '../../support/any-text';

const words = anyText(40);

test('truncated text stays well-formed, and is one code unit shorter only if a surrogate pair would be split', () => {
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 50 }), (text, max) => {
      const cut = cutText(text, max);
      expect(text.startsWith(cut)).toBe(true);
      expect(isWellFormed(cut)).toBe(true);
      expect(isWellFormed(clip(text, max))).toBe(true);
      expect(clip(text, max).length).toBeLessThanOrEqual(max);
      const plain = text.slice(0, max);
      expect(cut).toBe(isWellFormed(plain) ? plain : plain.slice(0, -1));
    }),
  );
});

test('text that fits is returned unchanged', () => {
  for (const cut of [cutText, clip]) expect(cut('ab😀', 4)).toBe('ab😀');
  expect(cutText('ab😀', 3)).toBe('ab');
  expect(clip('ab😀c', 4)).toBe('ab…');
  expect(clip('abc', 2)).toBe('a…');
});

test('an explanation is bounded and well-formed, whatever it quotes', () => {
  expect(cutExplanation('\ud800 was sent')).toBe('\ufffd was sent');
  const long = cutExplanation('x'.repeat(MAX_EXPLANATION_LENGTH - 1) + '😀');
  expect(long).toBe('x'.repeat(MAX_EXPLANATION_LENGTH - 1));
});

test('a rule whose reason or detail is truncated at an emoji returns a finding that can be hashed', () => {
  const input = {
    diff: { sourceTool: 'SQLDryRun', raw: new Uint8Array(), diffSha: 'a'.repeat(64), metadata: {} },
    inputSha: 'b'.repeat(64),
  };
  for (let padding = 0; padding < 4; padding++) {
    for (const what of [
      `${'x'.repeat(497 + padding)}😀 is dropped`,
      `${'x'.repeat(MAX_REASON_LENGTH - 4 + padding)}😀 is dropped`,
    ]) {
      const outcome = outcomeOf(input, [{ at: '/😀', what }], 'code', 'BLOCK');
      expect(() => canonicalJson(outcome)).not.toThrow();
      expect(outcome).toMatchObject({ fires: true });
    }
  }
});
