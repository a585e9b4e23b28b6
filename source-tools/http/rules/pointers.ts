import { z } from 'zod';
import { arrayIndex, tokensOf } from '../../../policy/text/json-pointer';
import type { Hit } from '../../../policy/rules/hit';
import { memoizeByObject } from '../../../policy/text/memoize';
import { shown } from '../../../policy/text/shown-name';
import { coversHost, formatPointer, httpRule, MERGE, request } from './define-http-rule';
import { READS, type HttpPatchFacts, type Write } from '../facts/http-facts';
import { foldedName, namesInPath } from '../facts/private-names';

export const Pointer = z
  .string()
  .max(1000)
  .refine(
    (text) => tokensOf(text) !== null,
    'expected a JSON pointer: empty for the whole document, or starting with "/"',
  );

export const UNKNOWN_WRITES: readonly Hit[] = [
  { at: '/body', what: 'the body is not JSON, so the members that it writes are unknown' },
];

/** The location of a write as tolerant servers read it: regardless of case, and with each name such as `a.b` as a path. */
function readingsOf({ pointer }: Write): readonly (readonly string[])[] {
  const tokens = (tokensOf(pointer) ?? []).map(foldedName);
  return [tokens, tokens.flatMap(namesInPath)];
}

/**
 * Whether a write to `tokens` affects the protected `pointer`: the location itself, a parent or a child. `*` matches any one name
 * or index. An insertion or removal in an array affects every later item.
 */
function affects(pointer: readonly string[], tokens: readonly string[], shifts: boolean): boolean {
  const shared = Math.min(tokens.length, pointer.length);
  for (let i = 0; i < shared; i++) {
    const [guarded, written] = [pointer[i] as string, tokens[i] as string];
    if (guarded === '*' || guarded === written) continue;
    const [a, b] = [arrayIndex(guarded), arrayIndex(written)];
    const moved = i === tokens.length - 1 && shifts && a !== null && (written === '-' || (b !== null && a >= b));
    if (!moved) return false;
  }
  return true;
}

const tokensOfEach = memoizeByObject((pointers: readonly string[]) =>
  pointers.map((pointer) => [pointer, (tokensOf(pointer) ?? []).map(foldedName)] as const),
);

export const protectedPointer = httpRule({
  name: 'http_protected_pointer',
  logicRevision: 6,
  defaultLevel: 'confirm',
  why: 'A protected member also changes if its parent is written, if it is moved, or if another operation shifts its array index.',
  config: z.strictObject({
    pointers: z
      .array(Pointer)
      .max(500)
      .default([])
      .describe('JSON pointers of protected members. * matches any one name or index.'),
  }),
  examples: {
    bad: request({ body: [{ op: 'replace', path: '/account', value: {} }] }),
    good: request({ body: [{ op: 'replace', path: '/account2/role', value: 'x' }] }),
    config: { pointers: ['/account/role'] },
  },
  find: ({ writes, members, body }, { pointers }) => {
    if (pointers.length === 0) return [];
    if (body === 'text') return UNKNOWN_WRITES;
    const guarded = tokensOfEach(pointers);
    const parameters = members
      .filter(({ at }) => at === '/url')
      .map(({ pointer, at }): Write => ({ how: 'set', changes: true, pointer, at, shifts: false }));
    return [...writes, ...parameters].flatMap((write) => {
      if (!write.changes && write.how !== 'copy') return [];
      const readings = readingsOf(write);
      const hit = guarded.find(([, pointer]) => readings.some((tokens) => affects(pointer, tokens, write.shifts)));
      if (hit === undefined) return [];
      const verb = write.changes ? write.how : 'copy from';
      return [{ at: write.at, what: `${verb} of ${formatPointer(write.pointer)} affects ${formatPointer(hit[0])}` }];
    });
  },
});

export const rootReplaced = httpRule({
  name: 'http_root_replaced',
  logicRevision: 6,
  defaultLevel: 'confirm',
  why: 'Replacing the whole document removes every member that the new document does not contain.',
  config: z.strictObject({
    partialPut: z
      .array(z.string().min(1).max(253))
      .max(200)
      .default([])
      .describe('Hosts where a PUT changes only the members of its body, as a PATCH does; *.host for all subdomains.'),
  }),
  examples: {
    bad: request({ body: [{ op: 'replace', path: '', value: { note: 'x' } }] }),
    good: request({ body: [{ op: 'replace', path: '/', value: 'x' }] }),
  },
  find: ({ method, body, url, writes }, { partialPut }) => {
    // A body without members, such as an array, replaces the document in any case.
    const isPartial = method === 'PUT' && body === 'json' && writes.length > 1 && coversHost(partialPut, url.host);
    return writes
      .filter((write) => write.changes && write.pointer === '' && !(isPartial && write.at === '/body'))
      .map((write) => ({ at: write.at, what: `${write.how} of the whole document` }));
  },
});

export const nullDelete = httpRule({
  name: 'http_null_delete',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'In a JSON Merge Patch and most other JSON of a PATCH or PUT, null removes a member, which is easy to overlook.',
  examples: {
    bad: request({ contentType: MERGE, body: { note: 'x', address: null } }),
    good: request({ contentType: MERGE, body: { note: 'delete', items: [null] } }),
  },
  find: ({ writes, members }) => [
    ...writes
      .filter((write) => write.how === 'null')
      .map((write) => ({ at: write.at, what: `null removes ${formatPointer(write.pointer)}` })),
    ...members
      .filter(({ name }) => DIRECTIVE.test(name))
      .map(({ name, at }) => ({ at, what: `${shown(name.slice(0, 100))} removes members or items` })),
  ],
});

/** Members of a strategic merge patch of Kubernetes that remove what the patch does not name. */
const DIRECTIVE = /^\$(?:patch$|retainKeys$|deleteFromPrimitiveList\/)/;

export const remove = httpRule({
  name: 'http_remove',
  logicRevision: 4,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'A remove operation names only a location; the patch does not show the removed value.',
  examples: {
    bad: request({ body: [{ op: 'remove', path: '/note' }] }),
    good: request({ body: [{ op: 'replace', path: '/note', value: 'remove' }] }),
  },
  find: ({ writes }) =>
    writes
      .filter((write) => write.how === 'remove')
      .map((write) => ({ at: write.at, what: `remove of ${formatPointer(write.pointer)}` })),
});

export const testRequired = httpRule({
  name: 'http_test_required',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'Without a precondition the change is applied to whatever the document has become since it was read.',
  advice: ['Send If-Match with the ETag that was read, or start the JSON Patch with a test operation.'],
  examples: {
    bad: request({ headers: {} }),
    good: request({
      headers: {},
      body: [
        { op: 'test', path: '/version', value: 7 },
        { op: 'replace', path: '/note', value: 'x' },
      ],
    }),
  },
  find: ({ method, headers, writes }) => {
    if (READS.has(method) || method === 'POST') return [];
    const lock = headers.find(({ name }) => name === 'if-match' || name === 'if-unmodified-since');
    if (lock !== undefined && lock.value.trim() !== '*' && lock.value.trim() !== '') return [];
    // A test after the first write only tests the result of the patch itself.
    const first = writes.findIndex((write) => write.changes);
    const tested = writes.slice(0, first === -1 ? writes.length : first).some((write) => write.how === 'test');
    return tested
      ? []
      : [{ at: '/method', what: `${method} without If-Match and without a test before the first write` }];
  },
});

const limit = (value: number, what: string) => z.int().min(0).max(1_000_000_000).default(value).describe(what);

export const bulk = httpRule({
  name: 'http_bulk',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A change with hundreds of operations cannot be reviewed one by one.',
  config: z.strictObject({
    maxOperations: limit(50, 'Maximum number of operations of a JSON Patch.'),
    maxArray: limit(100, 'Maximum number of items in one array.'),
    maxMembers: limit(500, 'Maximum number of members in all values.'),
    maxBytes: limit(64 * 1024, 'Maximum size of the staged request in bytes.'),
  }),
  examples: {
    bad: request({ body: [1, 2, 3].map((i) => ({ op: 'remove', path: `/items/${i}` })) }),
    good: request(),
    config: { maxOperations: 2 },
  },
  find: ({ operations, longestArray, members }: HttpPatchFacts, config, { diff }) => {
    const over = (value: number, most: number, what: string) =>
      value > most ? [{ at: '/body', what: `${value} ${what} exceed the maximum of ${most}` }] : [];
    return [
      ...over(operations, config.maxOperations, 'operations'),
      ...over(longestArray, config.maxArray, 'items in one array'),
      ...over(members.length, config.maxMembers, 'members'),
      ...over(diff.raw.length, config.maxBytes, 'bytes'),
    ];
  },
});
