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
