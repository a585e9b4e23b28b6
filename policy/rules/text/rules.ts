import { hitsInAdded } from '../hit';
import { bytesRules, type PackRule } from '../rule-maker';
import { bidi, controls, homoglyphs, invisible } from '../../text/characters';
import type { OddCharacter } from '../../text/odd-character';
import { invalidUtf8 } from '../../text/utf8-faults';

const textRule = bytesRules('text', null);

/** Makes a rule that looks for one kind of deceptive characters in the added text. */
function characterRule(
  options: Pick<Parameters<typeof textRule>[0], 'name' | 'logicRevision' | 'defaultLevel' | 'why' | 'examples'>,
  find: (text: string) => readonly OddCharacter[],
): PackRule {
  return textRule({
    ...options,
    reads: ['texts'],
    find: ({ tool }) =>
      hitsInAdded(tool.texts, ({ text }) =>
        find(text).map(({ index, length, what }) => ({ start: index, end: index + length, what })),
      ),
  });
}

export const textBidi = characterRule(
  {
    name: 'text_bidi',
    logicRevision: 5,
    defaultLevel: 'confirm',
    why: 'A bidirectional control character shows text in another order than a machine reads it.',
    examples: {
      bad: "UPDATE users SET role = 'user\u202e \u2066-- admins only\u2069 \u2066' WHERE id = 7;\n",
      good: "UPDATE users SET name = 'שלום' WHERE id = 7;\n",
    },
  },
  bidi,
);

export const textInvisible = characterRule(
  {
    name: 'text_invisible',
    logicRevision: 6,
    defaultLevel: 'confirm',
    why: 'An invisible character makes two different names look the same, or carries text that only a model reads.',
    examples: {
      bad: 'DELETE FROM sess\u200bions WHERE id = 7; -- \u{e0041}\u{e0042}\n',
      good: "UPDATE posts SET title = '👩‍💻 नमस्ते' WHERE id = 7;\n",
    },
  },
  invisible,
);

export const textControl = characterRule(
  {
    name: 'text_control',
    logicRevision: 5,
    defaultLevel: 'confirm',
    why: 'A control character can move the cursor of a terminal and hide part of the change.',
    examples: {
      bad: 'UPDATE t SET a = 1; -- \u001b[2K\u001b[1Gharmless\n',
      good: 'UPDATE t\r\n\tSET a = 1;\r\n',
    },
  },
  controls,
);

export const textHomoglyph = characterRule(
  {
    name: 'text_homoglyph',
    logicRevision: 6,
    defaultLevel: 'confirm',
    why: 'A letter or sign that only looks like ASCII makes a name, host, path or operator another than it seems to be.',
    examples: {
      bad: 'GRANT SELECT ON p\u0430yments TO app;\n',
      good: "UPDATE cities SET name = 'Москва' WHERE id = 7;\n",
    },
  },
  homoglyphs,
);

export const textInvalidUtf8 = textRule({
  name: 'text_invalid_utf8',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'Invalid UTF-8 can look different to people, to the judge and to the target.',
  examples: {
    bad: { base64: 'VVBEQVRFIHQgU0VUIGEgPSAn/yc7Cg==' },
    good: "UPDATE t SET a = 'ÿ';\n",
  },
  find: ({ diff }) => invalidUtf8(diff.raw).map((at) => ({ at, what: 'invalid UTF-8' })),
});
