import { bytesRules, noConfig, type Hit, type PackRule } from '../rule-maker';
import { bidi, controls, hasForeignLetters, homoglyphs, invisible, type OddCharacter } from '../../text/characters';
import { invalidUtf8 } from '../../text/utf8-faults';

const textRule = bytesRules('text', null);

/** A rule for one kind of odd characters, looked for in what the change adds. */
function oddRule(
  options: Pick<Parameters<typeof textRule>[0], 'name' | 'defaultLevel' | 'why' | 'examples'>,
  find: (text: string) => readonly OddCharacter[],
): PackRule {
  return textRule({
    ...options,
    logicRevision: 2,
    config: noConfig,
    reads: ['texts'],
    find: ({ tool }) => {
      const seen = new Set<string>();
      return tool.texts
        .filter(({ side }) => side === 'added')
        .flatMap(({ text, spanOf }) =>
          find(text).flatMap(({ index, length, what }): Hit[] => {
            const at = spanOf(index, index + length);
            const key = `${at.startLine}:${at.startColumn}`;
            if (seen.has(key)) return [];
            seen.add(key);
            return [{ at, what }];
          }),
        );
    },
  });
}

export const textBidi = oddRule(
  {
    name: 'text_bidi',
    defaultLevel: 'confirm',
    why: 'A control of writing direction shows text in another order than it is read by a machine.',
    examples: {
      bad: "UPDATE users SET role = 'user\u202e \u2066-- admins only\u2069 \u2066' WHERE id = 7;\n",
      good: "UPDATE users SET name = 'שלום' WHERE id = 7;\n",
    },
  },
  bidi,
);

export const textInvisible = oddRule(
  {
    name: 'text_invisible',
    defaultLevel: 'confirm',
    why: 'A character that is not shown makes two names of what looks like one, or carries text that only a model reads.',
    examples: {
      bad: 'DELETE FROM sess\u200bions WHERE id = 7; -- \u{e0041}\u{e0042}\n',
      good: "UPDATE posts SET title = '👩‍💻 नमस्ते' WHERE id = 7;\n",
    },
  },
  invisible,
);

export const textControl = oddRule(
  {
    name: 'text_control',
    defaultLevel: 'confirm',
    why: 'A control character moves the cursor of whoever reads the change in a terminal, and hides what stands there.',
    examples: {
      bad: 'UPDATE t SET a = 1; -- \u001b[2K\u001b[1Gharmless\n',
      good: 'UPDATE t\r\n\tSET a = 1;\r\n',
    },
  },
  controls,
);

export const textHomoglyph = oddRule(
  {
    name: 'text_homoglyph',
    defaultLevel: 'confirm',
    why: 'A word of letters that only look Latin is another table, function or host than the one that is read.',
    examples: {
      bad: 'GRANT SELECT ON p\u0430yments TO app;\n',
      good: "UPDATE cities SET name = 'Москва' WHERE id = 7;\n",
    },
  },
  (text) => homoglyphs(text, hasForeignLetters(text)),
);

export const textInvalidUtf8 = textRule({
  name: 'text_invalid_utf8',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'Bytes that are no text are shown to people, to the judge and to the target in three different ways.',
  config: noConfig,
  examples: {
    bad: { base64: 'VVBEQVRFIHQgU0VUIGEgPSAn/yc7Cg==' },
    good: "UPDATE t SET a = 'ÿ';\n",
  },
  find: ({ diff }) => invalidUtf8(diff.raw).map((at) => ({ at, what: 'bytes that are no UTF-8' })),
});
