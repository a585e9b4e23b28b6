/** Texts of at most one megabyte built to be expensive: each must be decided, or refused by a limit, within half a second. */
const MEGABYTE = 1024 * 1024;

function fill(unit: string, before = '', after = ''): string {
  return before + unit.repeat(Math.floor((MEGABYTE - before.length - after.length) / unit.length)) + after;
}

function numbered(make: (i: number) => string, before = '', after = '', separator = ''): string {
  const parts: string[] = [];
  let length = before.length + after.length;
  for (let i = 0; ; i++) {
    const part = make(i) + separator;
    length += part.length;
    if (length > MEGABYTE) break;
    parts.push(part);
  }
  const body = parts.join('');
  return before + body.slice(0, body.length - separator.length) + after;
}

/** Joins `count` parts. */
function times(count: number, make: (i: number) => string, separator = ''): string {
  return Array.from({ length: count }, (_, i) => make(i)).join(separator);
}

const SQL: Readonly<Record<string, () => string>> = {
  'many statements': () => fill('select 1;'),
  '1000 long statements': () => times(1000, (i) => `select ${times(70, (k) => `c${k}.x`, ',')} from t${i}`, ';'),
  'one list of columns': () => fill('a,', 'select ', 'a'),
  'rows of values': () => fill('(1),', 'insert into t values ', '(1)'),
  'rows of functions': () => fill('(f(1)),', 'insert into t values ', '(1)'),
  '140,000 tokens, a megabyte': () => `insert into t values ${times(34_000, (i) => `('${'v'.repeat(20)}${i}')`, ',')}`,
  'deep parentheses': () => fill('(', 'select '),
  'nesting at the limit': () => times(60, () => `select ${'('.repeat(900)}1${')'.repeat(900)}`, ';'),
  'chains of AND': () => fill(' and a=1', 'delete from t where a=1'),
  'chains of plus': () => fill('+1', 'select 1'),
  'unclosed block comments': () => fill('/*'),
  operators: () => fill('+-', 'select 1 '),
  'one long string': () => fill('x', "select '", "'"),
  'escapes in a string': () => fill('\\n', "select E'", "'"),
  'long names': () => numbered((i) => `"${'n'.repeat(100)}${i}"`, 'select ', '', ','),
  tables: () => numbered((i) => `t${i}`, 'drop table ', '', ','),
  'tables truncated': () => times(15_000, (i) => `s.t${i}`, ',').replace(/^/, 'truncate '),
  CTEs: () => times(6000, (i) => `c${i} as (select 1)`, ',').replace(/^/, 'with ') + ' select 1',
  'CTEs that read each other': () => `with ${times(3000, (i) => `c${i} as (select * from c${i + 1})`, ',')} select 1`,
  'DO bodies': () => numbered(() => 'do $$begin perform 1; end$$', '', '', ';'),
  'one DO body': () => fill('perform 1;', 'do $$begin ', ' end$$'),
  'EXECUTE in a body': () => fill("execute 'select 1';", 'do $$begin ', ' end$$'),
  'long executed strings': () => `do $$begin ${times(60, () => `execute 'select ${'1,'.repeat(6000)}1';`)} end$$`,
  'strings in strings': () => nested(7),
  'functions in SQL': () =>
    `create function f() returns int language sql as $$ ${fill('select 1;').slice(0, MEGABYTE - 100)} $$`,
  'dollar tags': () => fill('$a', '$a$'),
  'columns of a table': () => numbered((i) => `c${i} int not null default 1`, 'create table t (', ')', ','),
  constraints: () => times(5000, (i) => `add constraint k${i} check (a > ${i})`, ',').replace(/^/, 'alter table t '),
  joins: () => `select * from a ${times(900, (i) => `join t${i} on true`, ' ')}`,
  'line comments': () => fill('--\n', '', 'select 1'),
  'wide characters': () => fill('é', "select '", "'").slice(0, 500_000) + "'",
  'unclosed string': () => fill("select 'x;"),
  'an error at the end': () => fill('(1),', 'insert into t values ', '(1'),
  'a late error after wide characters': () => `select '${'é'.repeat(400_000)}' frm t t t`,
  grants: () => times(9000, (i) => `r${i}`, ',').replace(/^/, 'grant all on t to '),
  'set operations': () => fill(' union select 1', 'select 1'),
  CASE: () => fill(' when 1 then 1', 'select case', ' end'),
  'many subqueries': () => times(12_000, (i) => `(select ${i})`, ',').replace(/^/, 'select '),
};

function nested(depth: number): string {
  let text = `select ${'1,'.repeat(1000)}1`;
  for (let i = 0; i < depth; i++) text = `do $q${i}$begin execute $e${i}$${text}$e${i}$; end$q${i}$`;
  return text;
}

const FILE = 'diff --git a/f b/f\n--- a/f\n+++ b/f\n';
const PATCH: Readonly<Record<string, () => string>> = {
  'short lines': () => hunk(numberedLines(340_000, '+\n')),
  'lines with many matches': () => hunk(numberedLines(20_000, '+password = "AKIAIOSFODNN7EXAMPLE" eval(x)\n')),
  'one line': () => hunk([`+${'a'.repeat(MEGABYTE - 200)}\n`]),
  'one line of key-like text': () => hunk([`+${'aB3/xY9z'.repeat(MEGABYTE / 8 - 50)}\n`]),
  'many files': () => numbered((i) => `diff --git a/f${i} b/f${i}\nold mode 100644\nnew mode 100755\n`),
  'many hunks': () =>
    FILE +
    fill('@@ -1 +1 @@\n-a\n+b\n')
      .slice(0, -40)
      .replace(/@@ -1 \+1 @@\n(-a\n)?$/, ''),
  'files with a hunk': () =>
    numbered((i) => `diff --git a/d/f${i} b/d/f${i}\n--- a/d/f${i}\n+++ b/d/f${i}\n@@ -1 +1 @@\n-a\n+b\n`),
  'decompression bomb': () => binaryBomb(),
  'quoted names': () =>
    numbered(
      (i) =>
        `diff --git "a/\\303\\274${i}" "b/\\303\\274${i}"\nnew file mode 100644\n--- /dev/null\n+++ "b/\\303\\274${i}"\n@@ -0,0 +1 @@\n+x\n`,
    ),
  'long paths': () => `diff --git a/${'x'.repeat(500_000)} b/${'x'.repeat(500_000)}\n`,
  'long paths below the limit': () =>
    times(
      26,
      (i) => `diff --git a/${'x/'.repeat(9900)}${i} b/${'x/'.repeat(9900)}${i}\nold mode 100644\nnew mode 100755\n`,
    ),
  'not UTF-8': () => hunk(numberedLines(100_000, '+\u00ff\u00fe\n')),
  'bidi marks': () => hunk(numberedLines(20_000, '+\u202e\u2066 if (admin) \u2069\n')),
  prose: () => fill('not a patch\n'),
  'lines that look like a patch': () => fill('@@ nothing\n', `${FILE}@@ -1 +1 @@\n-a\n+b\n`),
};

function numberedLines(count: number, line: string): string[] {
  return Array.from({ length: Math.min(count, Math.floor((MEGABYTE - 200) / Buffer.byteLength(line))) }, () => line);
}

function hunk(lines: readonly string[]): string {
  return `${FILE}@@ -0,0 +1,${lines.length} @@\n${lines.join('')}`;
}

function binaryBomb(): string {
  const { deflateSync } = require('node:zlib') as typeof import('node:zlib');
  const size = 15 * 1024 * 1024;
  const data = deflateSync(Buffer.alloc(size, 0x61));
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += 52) {
    const piece = data.subarray(at, at + 52);
    const padded = Buffer.concat([piece, Buffer.alloc((4 - (piece.length % 4)) % 4)]);
    let line = String.fromCharCode(piece.length <= 26 ? 64 + piece.length : 96 + piece.length - 26);
    for (let i = 0; i < padded.length; i += 4) {
      let value = padded.readUInt32BE(i);
      let five = '';
      for (let k = 0; k < 5; k++) {
        five = (alphabet[value % 85] ?? '') + five;
        value = Math.floor(value / 85);
      }
      line += five;
    }
    lines.push(line);
  }
  return `diff --git a/f b/f\nnew file mode 100644\nGIT binary patch\nliteral ${size}\n${lines.join('\n')}\n\n`;
}

const patchOf = (body: string, type = 'application/json-patch+json'): string =>
  `{"method":"PATCH","url":"https://api.example.com/x","contentType":"${type}","document":{"a":{}},"body":${body}}`;
const JSON_TEXTS: Readonly<Record<string, () => string>> = {
  operations: () => patchOf(`[${times(20_000, (i) => `{"op":"add","path":"/a/${i}","value":1}`, ',')}]`),
  'a copy into itself': () => patchOf(`[${times(10_000, (i) => `{"op":"copy","from":"","path":"/a${i}"}`, ',')}]`),
  'deep objects': () => patchOf(`${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`, 'application/merge-patch+json'),
  members: () =>
    patchOf(
      `{${numbered((i) => `"k${i}":1`, '', '', ',').slice(0, -300)}}`.replace(/,[^,]*\}$/, '}'),
      'application/merge-patch+json',
    ),
  'a dense array': () => patchOf(`[${fill('1,').slice(0, -400)}1]`, 'application/merge-patch+json'),
  'empty arrays': () =>
    patchOf(`[${fill('[],').slice(0, -400)}1]`.replace(/\[?\]?,?1\]$/, ',1]'), 'application/merge-patch+json'),
  escapes: () =>
    patchOf(
      `"${fill('\\u0041')
        .slice(0, -400)
        .replace(/\\u?\d*$/, '')}"`,
      'application/merge-patch+json',
    ),
  quotes: () => fill('"'),
  brackets: () => fill('['),
};

const TERRAFORM: Readonly<Record<string, () => string>> = {
  resources: () =>
    `{"format_version":"1.2","terraform_version":"1.9.0","configuration":{"root_module":{}},"resource_changes":[${times(
      5000,
      (i) =>
        `{"address":"a.b${i}","mode":"managed","type":"aws_s3_bucket","name":"b${i}","provider_name":"providers.example.com/hashicorp/aws","change":{"actions":["delete"],"before":{"a":1},"after":null}}`,
      ',',
    )
      .slice(0, MEGABYTE - 600)
      .replace(/,\{"address[^}]*(\}[^}]*)?(\}[^}]*)?$/, '')}]}`,
  'rules of a security group': () =>
    `{"format_version":"1.2","terraform_version":"1.9.0","configuration":{"root_module":{}},"resource_changes":[{"address":"a.b","mode":"managed","type":"aws_security_group","name":"b","provider_name":"providers.example.com/hashicorp/aws","change":{"actions":["create"],"before":null,"after":{"ingress":[${times(9000, (i) => `{"from_port":${i},"to_port":${i},"protocol":"tcp","cidr_blocks":["0.0.0.0/0"]}`, ',')}]}}}]}`,
  'a policy document': () =>
    `{"format_version":"1.2","terraform_version":"1.9.0","configuration":{"root_module":{}},"resource_changes":[{"address":"a.b","mode":"managed","type":"aws_iam_policy","name":"b","provider_name":"providers.example.com/hashicorp/aws","change":{"actions":["create"],"before":null,"after":{"policy":"{\\"Statement\\":[${times(9000, () => '{\\"Effect\\":\\"Allow\\",\\"Action\\":\\"*\\",\\"Resource\\":\\"*\\"}', ',')}]}"}}}]}`,
  brackets: () => fill('['),
};

const TEXT: Readonly<Record<string, () => string>> = {
  words: () => fill('update items set stock = 1 where id = 2; '),
  quotes: () => fill('"'),
  'short strings': () => fill('"a",'),
  'different strings': () => numbered((i) => `"s${i}"`, '', '', ','),
  'strings with comments': () => numbered((i) => `"/*${i}*/ -- x"`, '', '', ','),
  'strings in strings': () => fill('"\\"\\\\\\"a\\\\\\"\\"",'),
  backslashes: () => fill('\\\\'),
  escapes: () => fill('\\u0044ROP '),
  comments: () => fill('/**/'),
  'unclosed comments': () => fill('/*'),
  dashes: () => fill('--'),
  apostrophes: () => fill("'/*'--\n"),
  'near misses': () => fill('DROP TABL '),
  'text that looks like keys': () => fill('AKIAaB3xY9zQ0_-='),
};

interface Hostile {
  readonly tool: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A generator, because all texts together are about a hundred megabytes. */
export function* hostileTexts(): Generator<Hostile> {
  const sets = [
    ['SQLDryRun', SQL],
    ['GitPatch', PATCH],
    ['HTTPPatch', JSON_TEXTS],
    ['TerraformPlan', TERRAFORM],
    ['text', TEXT],
  ] as const;
  for (const [tool, set] of sets)
    for (const [name, make] of Object.entries(set))
      yield { tool, name, bytes: new TextEncoder().encode(make()).subarray(0, MEGABYTE) };
}
