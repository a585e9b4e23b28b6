import { z } from 'zod';
import { arrayIndex, tokensOf } from '../../../policy/text/json-pointer';
import type { Hit } from '../../../policy/rules/rule-maker';
import { memoizeByObject } from '../../../policy/text/memoize';
import { shown } from '../../../policy/text/shown-name';
import { formatPointer, httpRule, MERGE, namesConfig, namesOf, request } from './define-http-rule';
import { READS, type HttpPatchFacts, type Write } from '../facts/http-facts';
import { foldedName, namesInPath, normalizedName, readingsOfName } from '../facts/private-names';
import { wordList } from '../../../policy/text/word-list';

const Pointer = z
  .string()
  .max(1000)
  .refine(
    (text) => tokensOf(text) !== null,
    'expected a JSON pointer: empty for the whole document, or starting with "/"',
  );

const UNKNOWN_WRITES: readonly Hit[] = [
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
  logicRevision: 4,
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
  find: ({ writes, body }, { pointers }) => {
    if (pointers.length === 0) return [];
    if (body === 'text') return UNKNOWN_WRITES;
    const guarded = tokensOfEach(pointers);
    return writes.flatMap((write) => {
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
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'Replacing the whole document removes every member that the new document does not contain.',
  examples: {
    bad: request({ body: [{ op: 'replace', path: '', value: { note: 'x' } }] }),
    good: request({ body: [{ op: 'replace', path: '/', value: 'x' }] }),
  },
  find: ({ writes }) =>
    writes
      .filter((write) => write.changes && write.pointer === '')
      .map((write) => ({ at: write.at, what: `${write.how} of the whole document` })),
});

export const nullDelete = httpRule({
  name: 'http_null_delete',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'In a JSON Merge Patch null removes a member, which is easy to overlook.',
  examples: {
    bad: request({ contentType: MERGE, body: { note: 'x', address: null } }),
    good: request({ contentType: MERGE, body: { note: 'delete', items: [null] } }),
  },
  find: ({ writes }) =>
    writes
      .filter((write) => write.how === 'null')
      .map((write) => ({ at: write.at, what: `null removes ${formatPointer(write.pointer)}` })),
});

export const remove = httpRule({
  name: 'http_remove',
  logicRevision: 3,
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
  logicRevision: 3,
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

const PRIVILEGE = wordList(`
  role roles role_id is_admin admin is_staff is_superuser superuser is_owner owner owner_id permission permissions
  privileges scopes grants acl access_level entitlements privileged allow_privilege_escalation host_network host_pid
  service_account_name groups tenant_id org_id organization_id verified email_verified mfa_enabled two_factor_enabled
  password password_hash price unit_price amount total balance credit credit_limit discount salary refund iban
  account_number limit limits quota quotas spending_limit daily_limit rate_limit webhook webhook_url callback_url
  redirect_uri redirect_uris allowed_origins ip_allowlist
`);

/** The unit of an amount in its name, such as `amountCents`. */
const MONEY_UNIT = /(?:in)?(?:cents?|minor|micros|usd|eur|gbp|chf)$/;

export const privilegeFields = httpRule({
  name: 'http_privilege_fields',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'An API may let a client write roles, permissions, prices and the addresses that it calls like any other member.',
  config: namesConfig(
    PRIVILEGE,
    'Names of privileged members. Case, "_" and "-" are ignored.',
    'Names in addition to `names`.',
  ),
  examples: {
    bad: '{"method": "PATCH", "url": "https://api.example.com/v1/users/7", "contentType": "application/merge-patch+json",\n "body": {"profile": {"is\\u0041dmin": true}}}',
    good: request({ contentType: MERGE, body: { profile: { note: 'is_admin' } } }),
  },
  find: ({ members, transfers }, config) => {
    const guarded = namesOf(config);
    const isGuarded = (name: string): boolean =>
      readingsOfName(name).some((part) => {
        const normalized = normalizedName(part);
        return guarded.has(normalized) || guarded.has(normalized.replace(MONEY_UNIT, ''));
      });
    const written = members
      .filter(({ name }) => isGuarded(name))
      .map(({ name, at }) => ({ at, what: `writes ${shown(name.slice(0, 100))}` }));
    const transferred = transfers.flatMap(({ how, from, below, complete, at }): readonly Hit[] => {
      const verb = how === 'copy' ? 'copies' : 'moves';
      if (!complete) return [{ at, what: `${verb} more members than can be listed` }];
      const name = [...from, ...below].find(isGuarded);
      return name === undefined ? [] : [{ at, what: `${verb} ${shown(name.slice(0, 100))}` }];
    });
    return [...written, ...transferred];
  },
});

export const unknownFields = httpRule({
  name: 'http_unknown_fields',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'A server may also assign members that its forms do not show (mass assignment).',
  config: z.strictObject({
    fields: z
      .array(Pointer)
      .max(2000)
      .nullable()
      .default(null)
      .describe(
        'JSON pointers of the locations that may be written, including everything below them; null allows any.',
      ),
  }),
  examples: {
    bad: request({ contentType: MERGE, body: { note: 'x', internal: { flag: true } } }),
    good: request({ contentType: MERGE, body: { note: 'x', address: { city: 'y' } } }),
    config: { fields: ['/note', '/address'] },
  },
  find: ({ writes, body }, { fields }) => {
    if (fields === null) return [];
    if (body === 'text') return UNKNOWN_WRITES;
    const known = fields.map((pointer) => tokensOf(pointer) ?? []);
    return writes
      .filter((write) => write.changes && !known.some((pointer) => isBelow(pointer, tokensOf(write.pointer) ?? [])))
      .map((write) => ({ at: write.at, what: `${formatPointer(write.pointer)} is not among the known fields` }));
  },
});

function isBelow(pointer: readonly string[], tokens: readonly string[]): boolean {
  return tokens.length >= pointer.length && pointer.every((token, i) => token === '*' || token === tokens[i]);
}

const limit = (value: number, what: string) => z.int().min(0).max(1_000_000_000).default(value).describe(what);

export const bulk = httpRule({
  name: 'http_bulk',
  logicRevision: 3,
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
