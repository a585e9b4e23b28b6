import { homoglyphs, invisible } from '../../../policy/text/characters';

const FLAG_OF_ENGLAND = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';

describe('invisible', () => {
  it.each([
    ['a zero-width space in a word', 'adm\u200bin'],
    ['a zero-width space after another one', 'ภาษา\u200b\u200bไทย'],
    ['a filler of another script', 'adm\u{16fe4}in'],
    ['a format control of hieroglyphs', 'adm\u{13430}in'],
    ['an empty note head', 'adm\u{1d159}in'],
    ['tags after a flag', `${FLAG_OF_ENGLAND}\u{e0041}`],
    ['other tags in a flag', '\u{1f3f4}\u{e0069}\u{e0067}\u{e006e}\u{e007f}'],
  ])('finds %s', (_, text) => {
    expect(invisible(text)).not.toEqual([]);
  });

  it.each([
    ['the flag of England', FLAG_OF_ENGLAND],
    ['a place for a line break in Thai', 'ภาษา\u200bไทย'],
    ['a place for a line break in Khmer', 'ភាសា\u200bខ្មែរ'],
  ])('does not find %s', (_, text) => {
    expect(invisible(text)).toEqual([]);
  });
});

describe('homoglyphs', () => {
  it.each([
    ['a phonetic letter', 'p\u0251yments'],
    ['a Roman numeral', 'ad\u217fin'],
    ['a Greek question mark for a semicolon', 'commit()\u037e'],
    ['full-width letters alone', 'ｏｒｄｅｒｓ'],
    ['a full-width letter in a Latin word', 'ｏrders 注文'],
    ['mathematical letters in Japanese', '\u{1d400}\u{1d401}スペシャル'],
  ])('finds %s', (_, text) => {
    expect(homoglyphs(text)).toHaveLength(1);
  });

  it.each([
    ['full-width letters in a Japanese word', 'ＮＨＫスペシャル'],
    ['a full-width letter in Chinese', 'Ａ座'],
    ['Roman numerals as numbers', '第ⅳ章'],
  ])('does not find %s', (_, text) => {
    expect(homoglyphs(text)).toEqual([]);
  });
});
