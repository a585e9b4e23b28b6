import type { DrivenChange } from '../../../dev/review-driver';
import { storable } from './script-strings';

/** A table and a column with the longest string as its name, and a row for each string. */
export const HOSTILE_SQL = `
create table "hostile" (id int primary key, note text not null);
insert into hostile values ${storable(2_000)
  .map((text, id) => `(${id}, ${literal(text)})`)
  .join(', ')};
create table ${identifier('<img src=x onerror=xss()>')} (id int primary key, ${identifier('"><svg onload=xss()>')} text, ${identifier('__proto__')} text, constructor text);
insert into ${identifier('<img src=x onerror=xss()>')} values (1, '<script>xss()</script>', '<script>xss()</script>', '<script>xss()</script>');
`;

/** Values after the change are hostile as well as values before it, names, and the text of the statements. */
function sqlRows(): DrivenChange {
  const rows = storable(2_000).toReversed();
  const statements = rows.map((text, id) => `update hostile set note = ${literal(text)} where id = ${id};`);
  return { sourceTool: 'SQLDryRun', raw: statements.join('\n'), metadata: { table_name: 'hostile' } };
}

function sqlNames(): DrivenChange {
  const table = identifier('<img src=x onerror=xss()>');
  const raw = `/* <script>xss()</script> */ update ${table} set ${identifier('"><svg onload=xss()>')} = '</td><img src=x onerror=xss()>', __proto__ = '{{xss()}}', constructor = 'javascript:xss()'; -- <svg onload=xss()>`;
  return { sourceTool: 'SQLDryRun', raw, metadata: { table_name: '<img src=x onerror=xss()>' } };
}

/** Names of fields of the agent's claim, and their values. */
function claim(): DrivenChange {
  const texts = storable(128).filter((text) => text !== '__proto__');
  return {
    sourceTool: 'SQLDryRun',
    raw: "update customers set note = 'claim'",
    metadata: { table_name: 'customers', ...Object.fromEntries(texts.map((text) => [text, text])) },
  };
}

/** A file for each string that may be part of a path, and a line for each. */
function gitPatch(base: string): DrivenChange {
  const paths = [...new Set(storable(100).map((text) => text.replaceAll(/[^\x20-\x7e]|[/\\"]/g, '_').trim()))];
  const lines = storable(2_000).flatMap((text) => text.split(/[\n\r\v\f\u2028\u2029]/));
  const file = (path: string, added: readonly string[]): string =>
    `diff --git "a/${path}" "b/${path}"\nnew file mode 100644\n--- /dev/null\n+++ "b/${path}"\n@@ -0,0 +1,${added.length} @@\n${added.map((line) => `+${line}\n`).join('')}`;
  const raw = paths.map((path) => file(`h/${path}.txt`, ['x'])).join('') + file('h/lines.txt', lines);
  return {
    target: 'repo',
    sourceTool: 'GitPatch',
    raw,
    metadata: { base_commit: base, message: 'fix: </textarea><img src=x onerror=xss()>\n\n<script>xss()</script>' },
  };
}

function jsonPatch(url: string): DrivenChange {
  const body = storable(500).map((text, n) => ({
    op: 'add',
    path: `/${n}${text.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    value: n % 2 === 0 ? text : { [text]: [text] },
  }));
  const raw = { method: 'PATCH', url, contentType: 'application/json-patch+json', body };
  return { target: 'api', sourceTool: 'HTTPPatch', raw: JSON.stringify(raw), metadata: {} };
}

function httpRequest(url: string): DrivenChange {
  const values = storable(500)
    .map((text) => text.trim())
    .filter((text) => /^[\x20-\x7e]+$/.test(text));
  const headers = Object.fromEntries(values.map((text, n) => [`x-h${n}`, text]));
  const body = Object.fromEntries(storable(500).map((text) => [text, text]));
  const raw = { method: 'PUT', url: `${url}?q=%3Cscript%3Exss()%3C/script%3E`, headers, body };
  return { target: 'api', sourceTool: 'HTTPPatch', raw: JSON.stringify(raw), metadata: {} };
}

function terraformPlan(): DrivenChange {
  const resource_changes = storable(500).map((text, n) => ({
    address: `aws_sns_topic.b["${text}"]`,
    mode: 'managed',
    type: 'aws_sns_topic',
    name: `b${n}`,
    index: text,
    provider_name: 'registry.terraform.io/hashicorp/aws',
    change: {
      actions: [['delete'], ['create'], ['update'], ['delete', 'create']][n % 4],
      before: n % 4 === 1 ? null : { display_name: text },
      after: n % 4 === 0 ? null : { display_name: `${text} `, [text]: text },
      after_unknown: {},
      before_sensitive: {},
      after_sensitive: {},
    },
  }));
  const configuration = { root_module: {} };
  const plan = { format_version: '1.2', terraform_version: '1.9.0', resource_changes, configuration };
  return { target: 'infra', sourceTool: 'TerraformPlan', raw: JSON.stringify(plan), metadata: {} };
}

/** Bytes that no renderer knows, a rule for each group of strings, and a group of people with the strings as names. */
function plainText(): DrivenChange {
  return {
    target: 'infra',
    sourceTool: 'PlainText',
    raw: storable(2_000).join('\n'),
    metadata: { hostile: true },
  };
}

/** One change for each place of the bytes, of the agent's claim and of the policy. `resource`: where the API has a document; `base`: the tip of the branch. */
export function hostileChanges(resource: string, base: string): Readonly<Record<string, DrivenChange>> {
  return {
    'rows of a dry run': sqlRows(),
    'names of tables and columns, comments and literals': sqlNames(),
    'names and values of the claims': claim(),
    'paths, lines and the message of a patch': gitPatch(base),
    'pointers and values of a JSON patch': jsonPatch(resource),
    'URL, headers and body of a request': httpRequest(resource),
    'addresses and attributes of a plan': terraformPlan(),
    'bytes of an unknown tool, rules, policies and people': plainText(),
  };
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
