/**
 * Requests that another site, another origin of the same site, or a program without the page's origin makes with the cookie of a
 * person's session. `O` is the origin of the inbox.
 */

/** Headers of a POST that a page of the inbox never sends; `true` repeats what the page sends. */
export interface RequestVariant {
  readonly name: string;
  readonly origin: string | readonly string[] | null | true;
  readonly site?: string;
  readonly contentType?: string | null;
  readonly method?: string;
  readonly query?: string;
}

const OTHER_ORIGINS = (O: string): readonly (string | null)[] => [
  null,
  'null',
  '',
  ' ',
  '*',
  'file://',
  'http://evil.example',
  O.replace('localhost', '127.0.0.1'),
  O.replace('localhost', '[::1]'),
  O.replace('http:', 'https:'),
  O.replace(/:\d+$/, ''),
  O.replace(/\d+$/, '80'),
  `${O}0`,
  `${O}.evil.example`,
  `${O}/`,
  `${O}/inbox/`,
  `${O}?`,
  `${O}#x`,
  O.replace('localhost', 'localhost.'),
  O.replace('localhost', 'LOCALHOST'),
  O.replace('localhost', 'evil.localhost'),
  O.replace('localhost', 'localhost.evil.example'),
  O.replace('://', '://evil@'),
  O.replace('://', '://localhost:pass@'),
  `${O} http://evil.example`,
  `${O}, http://evil.example`,
  `http://evil.example, ${O}`,
  `http://evil.example#${O}`,
  'chrome-extension://abcdefghijklmnop',
];

const SITES = ['cross-site', 'same-site', 'none', 'Cross-Site', 'same-origin, cross-site'];

const CONTENT_TYPES = [
  null,
  '',
  'text/plain',
  'text/plain;charset=UTF-8',
  'text/plain; application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/json-seq',
  'text/json',
  'application/csp-report',
  'text/plain, application/json',
];

export function requestVariants(O: string): readonly RequestVariant[] {
  return [
    ...OTHER_ORIGINS(O).map((origin) => ({ name: `Origin: ${origin ?? 'absent'}`, origin })),
    { name: 'Origin twice', origin: [O, 'http://evil.example'] },
    ...SITES.map((site) => ({ name: `Sec-Fetch-Site: ${site}`, origin: true as const, site })),
    ...CONTENT_TYPES.map((contentType) => ({
      name: `Content-Type: ${contentType ?? 'absent'}`,
      origin: true as const,
      contentType,
    })),
    { name: 'GET', origin: null, site: 'cross-site', method: 'GET' },
    { name: 'GET of the same origin', origin: true, method: 'GET' },
    { name: 'PUT', origin: true, method: 'PUT' },
    { name: 'DELETE', origin: true, method: 'DELETE' },
    { name: 'GET with ?_method=POST', origin: true, method: 'GET', query: '?_method=POST' },
  ];
}

/** Code of another page. `T` is the path below the origin that changes something, `R` the JSON body. */
export const PAGE_ATTACKS: Readonly<Record<string, string>> = {
  'a form, urlencoded': `form({})`,
  'a form, text/plain with a JSON body': `form({ enctype: 'text/plain', name: '{"a":"', value: '"}' })`,
  'a form, multipart': `form({ enctype: 'multipart/form-data' })`,
  'a form in a new window': `form({ target: '_blank' })`,
  'a form with GET': `form({ method: 'get' })`,
  'fetch without CORS, text/plain': `fetch(O + T, { method: 'POST', mode: 'no-cors', credentials: 'include', body: R })`,
  'fetch without CORS, a JSON blob': `fetch(O + T, { method: 'POST', mode: 'no-cors', credentials: 'include', body: new Blob([R], { type: 'application/json' }) })`,
  'fetch with CORS, JSON': `fetch(O + T, { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: R })`,
  'fetch with CORS, an own header': `fetch(O + T, { method: 'POST', credentials: 'include', headers: { 'x-requested-with': 'x' }, body: R })`,
  'fetch, kept alive': `fetch(O + T, { method: 'POST', mode: 'no-cors', keepalive: true, credentials: 'include', body: R })`,
  'fetch through a redirect with 307': `fetch('/redirect?to=' + encodeURIComponent(O + T), { method: 'POST', mode: 'no-cors', credentials: 'include', body: R })`,
  'fetch without a referrer': `fetch(O + T, { method: 'POST', mode: 'no-cors', referrerPolicy: 'no-referrer', credentials: 'include', body: R })`,
  'a beacon': `navigator.sendBeacon(O + T, new Blob([R], { type: 'text/plain' }))`,
  'a beacon with JSON': `navigator.sendBeacon(O + T, new Blob([R], { type: 'application/json' }))`,
  XMLHttpRequest: `const x = new XMLHttpRequest(); x.open('POST', O + T); x.withCredentials = true; x.send(R)`,
  'an image': `element('img', { src: O + T })`,
  'a script': `element('script', { src: O + '/inbox/api/session' })`,
  'a style sheet': `element('link', { rel: 'stylesheet', href: O + '/inbox/api/session' })`,
  'an event source': `const s = new EventSource(O + '/inbox/api/events', { withCredentials: true }); s.onmessage = (e) => stolen(e.data); s.onopen = () => stolen('open')`,
  'a read with CORS': `fetch(O + '/inbox/api/session', { credentials: 'include' }).then((r) => r.text()).then(stolen, () => {})`,
  'a frame': `const f = element('iframe', { src: O + '/inbox/' }); f.onload = () => { try { stolen(f.contentDocument.body.innerHTML) } catch {} }`,
  'a sandboxed frame that posts': `element('iframe', { sandbox: 'allow-scripts allow-forms', srcdoc: '<form method=post action="' + O + T + '"></form><script>document.forms[0].submit()<' + '/script>' })`,
  'an object': `element('object', { data: O + '/inbox/' })`,
  'a socket': `new WebSocket(O.replace('http', 'ws') + '/inbox/api/events').onopen = () => stolen('socket')`,
  'the ping of a link': `const a = element('a', { href: '#', ping: O + T }); a.click()`,
  'a window that is opened': `const w = window.open(O + '/inbox/'); setTimeout(() => { try { stolen(w.document.body.innerHTML) } catch {} }, 300)`,
  'messages to a window': `const w = window.open(O + '/inbox/'); setTimeout(() => w?.postMessage({ type: 'changed', answer: 'confirm' }, '*'), 300)`,
};

/** A page that runs `code` with the helpers that it uses. */
export function attackPage(origin: string, path: string, body: string, code: string): string {
  const data = JSON.stringify({ O: origin, T: path, R: body });
  return `<!doctype html><title>another site</title><body><script>
const { O, T, R } = ${data};
window.found = [];
const stolen = (what) => window.found.push(String(what));
const element = (name, members) => { const e = Object.assign(document.createElement(name), members); for (const [k, v] of Object.entries(members)) e.setAttribute(k, v); document.body.append(e); return e; };
const form = ({ method = 'post', enctype = 'application/x-www-form-urlencoded', target = 'sink', name = 'a', value = 'b' }) => {
  if (target === 'sink') element('iframe', { name: 'sink' });
  const f = element('form', { method, enctype, target, action: O + T });
  f.append(Object.assign(document.createElement('input'), { name, value }));
  f.submit();
};
(async () => { try { await (async () => { ${code} })(); } catch (error) { window.failure = String(error); } })();
</script>`;
}
