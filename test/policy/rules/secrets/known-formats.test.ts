import { scanText } from '../../../../policy/rules/secrets/scan';
import { createRedactor } from '../../../../policy/judge/redact';

/** Joined here, so that secret scanners do not report this file. */
const joined = (...parts: readonly string[]): string => parts.join('');
const letters = (count: number): string => 'q7Rk2ZpX9vLm4Tc8Ws1Yb6Nd3Hf5Gj0'.repeat(5).slice(0, count);
const hex = (count: number): string => '9f86d081884c7d659a2feaa0c55ad015'.repeat(3).slice(0, count);
const lower = (count: number): string => letters(count).toLowerCase();
const UUID = '3f2b8c1d-9a47-4e60-b1d2-7c5e8f90a1b3';

describe('a token in text without a name', () => {
  it.each([
    ['openai_compatible', joined('sk-', hex(32))],
    ['langfuse', joined('sk-lf-', UUID)],
    ['nvidia', joined('nvapi-', letters(64))],
    ['elevenlabs', joined('sk_', hex(48))],
    ['google', joined('1//0', letters(64))],
    ['resend', joined('re_', letters(8), '_', letters(24))],
    ['plaid', joined('access-production-', UUID)],
    ['paddle', joined('pdl_live_apikey_', lower(26), '_', letters(22), '_', letters(3))],
    ['mercadopago', joined('APP_USR-', '1234567890123456-010203-', hex(32), '-123456789')],
    ['neon', joined('npg_', letters(12))],
    ['mongodb_atlas', joined('mdb_sa_sk_', letters(40))],
    ['aiven', joined('AVNS_', letters(19))],
    ['posthog', joined('phx_', letters(43))],
    ['launchdarkly', joined('sdk-', UUID)],
    ['mapbox', joined('sk.eyJ1Ijoi', letters(50), '.', letters(22))],
    ['nuget', joined('oy2', lower(43))],
    ['clickup', joined('pk_', '12345678_', letters(32).toUpperCase())],
    ['klaviyo', joined('pk_', hex(34))],
    ['slack', joined('xoxc-', '123456789012-123456789012-123456789012-', hex(64))],
    ['slack', joined('xoxd-', letters(60), '%2F', letters(20))],
    ['dropbox', joined('sl.u.', letters(140))],
    ['discord', joined('MT', letters(22), '.', letters(6), '.', letters(38))],
    ['asana', joined('1/', '1234567890123456:', hex(32))],
    ['asana', joined('2/', '1234567890123456/1234567890123456:', hex(32))],
    ['mailchimp', joined(hex(32), '-us12')],
    ['azure_key', joined(letters(52), 'JQQJ99', letters(26))],
    ['azure_devops', joined(letters(76), 'AZDO', letters(4))],
    ['azure_storage', joined(letters(76), '+ASt', letters(6), '==')],
  ])('is found: %s %#', (kind, token) => {
    expect(scanText(`load('${token}')`).found.token.map((found) => found.kind)).toEqual([kind]);
  });

  it.each(['"a" "b"', `"a"'b'`, `'a'"b"`])('is found if it is split like %s', (form) => {
    const token = joined('ghp', '_', letters(36));
    const text = form.replace('a', token.slice(0, 9)).replace('b', token.slice(9));
    expect(scanText(text).found.covered.map(({ kind }) => kind)).toEqual(['github']);
  });
});

describe('a token or key with escapes', () => {
  const token = joined('ghp', '_', letters(36));
  const key = joined('-----BEGIN ', 'PRIVATE KEY-----\n', letters(64), '\n-----END ', 'PRIVATE KEY-----');
  const escaped = (text: string, escape: (code: number) => string): string =>
    [...text].map((letter) => escape(letter.charCodeAt(0))).join('');
  const covered = (text: string) => scanText(text).found.covered;

  it.each([
    ['one letter of a URL', token.replace('g', '%67')],
    ['a URL', escaped(token, (code) => `%${code.toString(16)}`)],
    ['a string literal', escaped(token, (code) => `\\x${code.toString(16).toUpperCase()}`)],
    ['HTML', escaped(token, (code) => `&#${code};`)],
    ['hexadecimal HTML', escaped(token, (code) => `&#x${code.toString(16)};`)],
    ['a form', encodeURIComponent(key)],
  ])('is found with its whole extent in %s', (_, written) => {
    const text = `a%20b ${written}`;
    expect(covered(text)).toEqual([expect.objectContaining({ start: 6, end: text.length })]);
  });

  it('is not seen in ordinary escapes', () => {
    expect(covered('https://example.com/a%20b?next=%2Fhome&x=&#39;y&#39;')).toEqual([]);
    expect(covered(`https://example.com/%7Euser/${letters(40)}`)).toEqual([]);
  });
});

it.each(['class="sk-button-primary-large-2"', 'CONSTRAINT pk_order_items_per_customer_v2', 'fc-daygrid-day-number-2'])(
  'shows the judge a name with the prefix of a token: %s',
  (text) => {
    expect(createRedactor().redact(text)).toBe(text);
  },
);
