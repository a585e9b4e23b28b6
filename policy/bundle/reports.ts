import { toWellFormed } from '../contracts/canonical-json';
import type { ExplainedFinding, Explanation } from './explain';
import type { Issue } from './issue';

/** An explanation as SARIF 2.1.0 (OASIS), for code scanners. `uri` is the file that the places refer to. */
export function explanationSarif(explanation: Explanation, uri: string, version: string): object {
  const shadow = new Set(explanation.shadow);
  const all = [...explanation.findings, ...explanation.shadow];
  const ids = [...new Set(all.map(({ validatorId }) => validatorId))];
  const rules = ids.map((id) => {
    const { rule, why, docs } = all.find(({ validatorId }) => validatorId === id) as ExplainedFinding;
    const help = docs.startsWith('https://') ? { helpUri: docs } : { help: { text: `${why} See ${docs}.` } };
    return { id, name: rule, shortDescription: { text: why === '' ? id : why }, ...help };
  });
  return sarif(
    version,
    rules,
    all.map((finding) => ({
      ruleId: finding.validatorId,
      ruleIndex: ids.indexOf(finding.validatorId),
      level: levelOf(finding, shadow.has(finding)),
      message: { text: finding.reason === '' ? finding.validatorId : finding.reason },
      locations: locationsOf(finding, uri),
      ...(finding.waiver === null
        ? {}
        : { suppressions: [{ kind: 'external', status: 'accepted', justification: finding.waiver.reason }] }),
      properties: { class: finding.class, level: finding.level, status: finding.status, shadow: shadow.has(finding) },
    })),
  );
}

/** The issues of a bundle as SARIF 2.1.0, each at its line and column. */
export function issuesSarif(
  issues: readonly Issue[],
  warnings: readonly Issue[],
  uri: string,
  version: string,
): object {
  const rules = [{ id: 'bundle', shortDescription: { text: 'Invalid policy bundle' } }];
  const levelled = [
    ...issues.map((issue) => ({ issue, level: 'error' })),
    ...warnings.map((issue) => ({ issue, level: 'warning' })),
  ];
  return sarif(
    version,
    rules,
    levelled.map(({ issue: { line, column, path, message, fix }, level }) => ({
      ruleId: 'bundle',
      ruleIndex: 0,
      level,
      message: { text: `${path === '' ? '' : `${path}: `}${message}. ${fix}` },
      locations: [
        { physicalLocation: { artifactLocation: { uri }, region: { startLine: line, startColumn: column } } },
      ],
    })),
  );
}

function sarif(version: string, rules: readonly object[], results: readonly object[]): object {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'countersign', semanticVersion: version, rules } },
        columnKind: 'utf16CodeUnits',
        results,
      },
    ],
  };
}

function levelOf(finding: ExplainedFinding, shadow: boolean): 'error' | 'warning' | 'note' {
  if (shadow || finding.waiver !== null) return 'note';
  return finding.status === 'WARN' ? 'warning' : 'error';
}

function locationsOf(finding: ExplainedFinding, uri: string): object[] {
  const places = finding.places.filter(({ ref }) => ref.startsWith('diff:'));
  return places.map(({ ref, region }) => ({
    physicalLocation: { artifactLocation: { uri }, ...(region === null ? {} : { region }) },
    ...(region === null ? { logicalLocations: [{ fullyQualifiedName: ref.slice(ref.indexOf('#') + 1) || '/' }] } : {}),
  }));
}

/** Results of policy tests as JUnit XML, for build servers: one test case for each test. */
export function testsJunit(
  suite: string,
  results: readonly { readonly name: string; readonly problems: readonly string[] }[],
): string {
  const failed = results.filter(({ problems }) => problems.length > 0).length;
  const cases = results.map(({ name, problems }) => {
    const open = `    <testcase classname="${xml(suite)}" name="${xml(name)}"`;
    if (problems.length === 0) return `${open}/>`;
    return `${open}>\n      <failure message="${xml(problems[0] ?? '')}">${xml(problems.join('\n'))}</failure>\n    </testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${results.length}" failures="${failed}">`,
    `  <testsuite name="${xml(suite)}" tests="${results.length}" failures="${failed}" errors="0" skipped="0">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
  ].join('\n');
}

/** Escapes text for XML 1.0, which does not allow most control characters even as escapes: they become U+FFFD. */
function xml(text: string): string {
  return [...toWellFormed(text)]
    .map((character) => {
      const code = character.codePointAt(0) ?? 0;
      if (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return '\ufffd';
      if (code === 0xfffe || code === 0xffff) return '\ufffd';
      return ESCAPES[character] ?? character;
    })
    .join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};
