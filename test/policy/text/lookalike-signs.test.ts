import { homoglyphs } from '../../../policy/text/characters';
import { leastCpuMs } from '../../support/least-cpu';

/** What the rules say, without the number of the character. */
const signs = (text: string): string[] => homoglyphs(text).map(({ what }) => what.replace(/^U\+[0-9A-F]+ /, ''));

describe('signs that look like code', () => {
  it.each([
    ['a click letter in !=', 'if (environment\u01c3=ENV_PROD) {', '!'],
    ['a click letter in !==', 'return user \u01c3== owner;', '!'],
    ['a click letter that seems to negate a call', 'if (\u01c3isAllowed(user)) return;', '!'],
    ['a click letter that seems to negate a name', 'while (\u01c3isDone) wait();', '!'],
    ['a click letter in ||', 'if (isAdmin |\u01c0 isOwner) {', '|'],
    ['a sign of divisibility in ||', 'if (isAdmin \u2223| isOwner) {', '|'],
    ['a click letter in != after an index', 'if (roles[0]\u01c3=admin) {', '!'],
    ['a full-width ! before =', 'WHERE tenant_id \uff01= 7', '!'],
    ['a full-width = in ==', 'if (role =\uff1d "admin") {', '='],
    ['a small = in >=', 'if (age >\ufe66 18) {', '='],
    ['a full-width & in &&', 'if (isOwner &\uff06 isActive) {', '&'],
    ['a full-width | in ||', 'SELECT first_name |\uff5c last_name', '|'],
    ['a full-width > in =>', 'const allow = (user) =\uff1e true;', '>'],
    ['a minus in ->', 'if ($user\u2212>isAdmin) {', '-'],
    ['a minus in -=', 'balance \u2212= amount', '-'],
    ['a colon letter in ::', 'Policy:\ua789allow()', ':'],
    ['a double hyphen for =', 'REQUIRE_APPROVAL\u2e40true', '='],
    ['a double hyphen of Japanese for =', 'admin \u30a0 true', '='],
    ['a short equals sign for =', 'admin\ua78atrue', '='],
    ['a full-width = in a setting', 'AUTH_REQUIRED\uff1dtrue', '='],
    ['a full-width = in a setting with a comment in Japanese', 'export AUTH_REQUIRED\uff1dtrue # 必須', '='],
    ['a ratio for the colon of a key', '  read_only\u2236 true', ':'],
    ['a colon letter for the colon of a key', 'privileged\ua789 false', ':'],
    ['an asterisk operator that seems to end a comment', '/* no check needed \u2217/ return true; /* */', '*'],
    ['a slash that seems to end a comment', '/* no check needed *\u2215 return true; /* */', '/'],
    ['two slashes that seem to begin a comment', '\u2215/ checked above', '/'],
    ['an asterisk operator that seems to begin a comment', '/\u2217 checked above */', '*'],
    ['a division slash after a host', 'fetch("https://api.example.com\u2215login.evil.example")', '/'],
    ['a fraction slash after a host', 'url: https://github.com\u2044acme.evil.example/x', '/'],
    ['a big slash after a host', 'registry=https://npm.example.com\u29f8evil.example/', '/'],
    ['a division slash after a host without a scheme', 'uses: github.com\u2215acme', '/'],
    ['a colon letter in an address', 'https://example.com\ua789443.evil.example', ':'],
    ['a full-width dot in a host', 'https://example\uff0ecom/login', '.'],
    ['a division slash at the start of a path', '\u2215infra @security-team', '/'],
    ['a division slash in a path', 'src/auth\u2215login @security-team', '/'],
    ['a division slash in a parent folder', 'rm -rf ..\u2215build', '/'],
    ['a fraction slash in the name of a file', 'COPY config\u2044secrets.env .', '/'],
    ['a one dot leader in a host', 'host: example\u2024com', '.'],
    ['a one dot leader in a member', 'os\u2024remove(path)', '.'],
    ['a low quotation mark for a comma', 'allow(user\u201a role)', ','],
    ['a low quotation mark for a comma between names', 'GRANT a\u201ab TO app', ','],
    ['a small semicolon', 'DELETE FROM t WHERE id = 1\ufe54', ';'],
    ['a reversed semicolon', 'close()\u204f', ';'],
    ['a syllable for <', 'if (age\u143818) {', '<'],
    ['a syllable for >', 'if (age\u143318) {', '>'],
    ['apostrophes that are letters around a word', 'if (role === \u02bcadmin\u02bc) {', "'"],
  ])('finds %s', (_, text, sign) => {
    expect(signs(text)).toContain(`looks like ${sign}`);
  });

  it('reports each sign once, at its place', () => {
    expect(homoglyphs('a = "https:\u2215\u2215x.example\u2215y";')).toEqual([
      { index: 11, length: 1, what: 'U+2215 looks like /' },
      { index: 12, length: 1, what: 'U+2215 looks like /' },
      { index: 22, length: 1, what: 'U+2215 looks like /' },
    ]);
  });

  it('reports at most 1,000 signs', () => {
    expect(homoglyphs('a\u2024b '.repeat(1500))).toHaveLength(1000);
  });

  it.each(['\u01c3', '\u2215a', '\u2217', '://a\u2024', '://', 'a\uff1d', '\u02bca', 'aa\u2236', '\u201a'])(
    'takes time in proportion to a text of many %j',
    (part) => {
      expect(leastCpuMs(() => homoglyphs(`${part.repeat(40_000)}\u2024`), 1)).toBeLessThan(1_000);
    },
  );
});

describe('signs of ordinary text', () => {
  it.each([
    ['Chinese', '// 调用foo（bar），然后返回：true；否则抛出错误！'],
    ['Chinese between ASCII words', '支持JSON，YAML；还有XML（见RFC 8259）'],
    ['Chinese after a call', '先执行init()，再执行run()；最后close()。'],
    ['a list of settings in Chinese', 'QQ：12345，Email：foo@bar.com'],
    ['a version in Chinese', 'Version：1.1.0'],
    ['a template with a full-width colon', '<span>{name}：{value}（{unit}）</span>'],
    ['a string of full-width punctuation', "text.split(/[，。！？；：]/) || label + '：'"],
    ['a comparison that Chinese quotes', '注意「！=」和「＝＝」是不等于和等于，用！=判断'],
    ['an address in Chinese', '详见https://example.com/foo，或者（https://example.com/bar）。'],
    ['Japanese', '// 名前＝「太郎」、年齢＞＝20のとき／それ以外'],
    ['Japanese between ASCII words', 'iOS／Android対応、Q＆A、Ctrl＋Cで停止、C＃'],
    ['a title in Japanese', 'Foo｜Bar｜公式サイト'],
    ['a full-width equals sign in Japanese', 'これはNG＝No Goodの略です'],
    ['the double hyphen of Japanese', 'ジャン゠ジャック・ルソー'],
    ['a face', '(*／ω＼*) (＾＝＾) (＞=＜) ＼(^o^)／'],
    ['Japanese emphasis', '**iOS**／**Android**と*PC*／*Web*'],
    ['a ruler', '＝＝＝＝＝＝＝＝'],
    ['Taiwanese small forms', '支援JSON﹐YAML﹑XML﹒'],
    ['Korean', '서울（Seoul）：2024년～2025년'],
    [
      'patterns that find the signs',
      'text.replace(/⁄/g, "/").replace(/∗/g, "*").replace(/[/∕⁄]/g, "/").replace(/ǃ/g, "!")',
    ],
    ['sets of full-width signs', "text.split(/[=＝]/).map((part) => part.split(/[|｜&＆/／]/)), '゠-ヿ', /[゠-ヿ]/"],
    ['a table of the signs', "{'ǃ': '!', '∗': '*', '∕': '/', '‚': ',', '․': '.', 'ʼ': \"'\", '゠': '='}"],
    ['a Khoisan people', 'The ǃKung (San) and the Juǀʼhoansi speak ǃXóõ, Gǀui and Nǁng.'],
    ['Khoisan in code', 'const name = "ǃKung"; lang=ǃXóõ; peoples = [ǃkung, ǂHaba]'],
    ['a list of click letters', 'the clicks ǀ, ǁ, ǃ and ǂ; doubled as ǀǀ in ǀǀKaras'],
    ['a Namibian constituency', 'ǃNamiǂNus'],
    ['a file about a people', 'docs/ǃkung_people.md'],
    ['a fraction', 'Use 1⁄2 cup, or 3∕4, of 1⁄2-inch/3⁄4-inch pipe'],
    ['units', 'at 30 km∕h or 5 m⁄s²'],
    ['a quotient', 'dy∕dx = (∂f∕∂x)(a∕b), and G∕ker f ≅ im f, Γ∕ker f'],
    ['a product', 'f∗g = h, C∗-algebras, and the ratios p∗/q∗ and θ∗/‖θ∗‖'],
    ['an optimum', 'x∗=argmin f, θ∗=0.3'],
    ['a significance', 'p < 0.05 ∗∗'],
    ['conditional probability', 'P(A∣B) = P(A∩B)∕P(B), D(P ∣∣ Q) ≥ 0'],
    ['a model of a formula', 'M ∣= φ'],
    ['a norm', '∣∣x∣∣ ≤ ∥y∥ and ‖z‖'],
    ['a ratio', '16∶9, and f∶ A → B, and g ∶= h'],
    ['a minus', 'x − y = −3; the range is −5…+5'],
    ['an arrow of a copied formula', 'A −> B'],
    ['set difference', 'ℝ∖{0}'],
    ['French', 'L’homme qu’il a vu : « C’est ‹ vrai › ! »'],
    ['German', 'Er sagte: „Sie rief ‚Halt‘ und ging.“'],
    ['German in a string', 'title = "‚Halt‘, rief sie"'],
    ['an English possessive', "// the user’s role isn’t checked; user_id’s value is 'x'"],
    ['Breton', 'cʼhoar ha breur, marcʼh'],
    ['Hawaiian', 'Hawaiʻi, Oʻahu, okina ʻ'],
    ['Navajo and Afrikaans', 'tʼáá ʼaaníí; dit is ʼn boom'],
    ['Ukrainian', 'п’ять імʼя'],
    ['transliterated Arabic', 'al-Qurʼān, ʻulamāʼ'],
    ['a saltillo', 'tlaꞌtol, kꞌo'],
    ['Armenian, with its dot in a date', 'Երևան․ 12․05․2024 թ․'],
    ['dot leaders', 'Chapter 1․․․․․․․․5'],
    ['Inuktitut', 'ᐸᓂᒃ ᐳᑐ᐀ᐊ'],
    ['Budu tones', 'a ꞊ba ꞉ba'],
    ['phonetic transcription', '[ˈbiːtə], beːt'],
    ['dashes and a bullet', 'pages 3–5 — see • below … and ⁃ this'],
  ])('does not find %s', (_, text) => {
    expect(homoglyphs(text)).toEqual([]);
  });
});
