import { linePattern, wordsOf } from '../../../policy/text/line-patterns';

/** What skips, disables or voids a test, in a line of a test file. */
export const SKIPPED = [
  linePattern(
    'skips a test',
    [
      'skip',
      'todo',
      'fixme',
      'pending',
      'marktest',
      'runif',
      '.if(',
      '.ignore',
      'ignore:',
      '.fail(',
      'only:',
      'fails:',
    ],
    [
      String.raw`\b(?:it|test|describe|context|suite|specify)\??(?:\.\w+)*\??\.(?:skip|todo|fixme|skipif|runif|if|ignore|fail)\b`,
      String.raw`\b(?:it|test|describe|context|suite)\[\s*["'](?:skip|todo|fixme)`,
      String.raw`\b(?:it|test|describe)\b[\w.]*\(\s*["'\x60].*["'\x60],\s*\{[^}]*\b(?:skip|todo|only|fails|ignore)\b`,
      String.raw`\bdeno\.test\(.*\bignore\s*:`,
      String.raw`\b(?:t|b|tb|this|ctx|context)\.skip(?:now|f)?\(|\bpytest\.(?:mark\.)?skip|\bmark\s*\.\s*skip`,
      String.raw`@(?:unittest\.)?skip|\bunittest\.skip|\bskiptest\b|\bskipexception\b|\bskip_all\b|\bskip\.if\(`,
      String.raw`\bskip\s*[:=]\s*(?:true\b|["'])|\bpending\(|^\s*(?:skip|pending)\s*(?:["'(]|$)|\bpendingwith\b`,
      String.raw`[,@]\s*:(?:skip|pending)\b|@(?:module|describe)?tag\s+:?skip|@test_(?:skip|broken)\b`,
      String.raw`\}\)\s*->\s*(?:skip|todo)\(|\bmark(?:testskipped|testincomplete)\(|\bxctskip|\bgtest_skip\b|\bqskip\b`,
      String.raw`\bit\s+["'].*\s-skip\b|\bassert\.skip\(|\bvm\.skip\(\s*true|::skip\(`,
    ].join('|'),
  ),
  linePattern(
    'skips a test',
    ['xit', 'xdescribe', 'xtest', 'xcontext', 'xspecify'],
    String.raw`\bx(?:it|describe|test|context|specify)(?:\s*[(.]|\s+["'\w])`,
  ),
  linePattern(
    'runs only selected tests',
    ['.only', '["only', "['only", 'fit', 'fdescribe', 'fcontext', ':focus', 'focus:'],
    String.raw`\b(?:it|test|describe|context|suite)(?:\.\w+)*(?:\.only\b|\[["']only)|\bf(?:it|describe|context)(?:\s*\(|\s+["'])|,\s*:focus\b|\bfocus:\s*true\b`,
  ),
  linePattern(
    'expects a test to fail',
    ['xfail', '.fails', 'failing', 'expectedfailure', 'expectfailure', 'withknownissue', 'mayfail'],
    String.raw`\bpytest\.(?:mark\.)?xfail|\bexpectedfailure\b|\b(?:it|test)\.(?:fails|failing)\b|\bxctexpectfailure\b|\bwithknownissue\b|\[!mayfail`,
  ),
  linePattern(
    'disables a test',
    [
      ...[
        '@disabled',
        '@ignore',
        '.disabled',
        '.ignore',
        '#[ignore',
        'ignore',
        'explicit',
        '[skip',
        'enabled',
        'disabled',
      ],
      ...['assumetrue', 'assumefalse', 'assumptions.abort', '@wip', '"[.', '__test__', 'nottest'],
      ...['assert.ignore', 'assert.inconclusive', 'assert.pass', 'doesnotperformassertions', 'nottoperformassertions'],
    ],
    [
      String.raw`@(?:\w+\.)*(?:disabled\w*|ignore(?:if|rest)?|wip|pendingfeature|nottest)\b|@enabled(?:if|on|for)\w+`,
      String.raw`#\[ignore|\bcfg_attr\(.*\bignore\b|^\s*\[[^\]"']*\b(?:ignore|explicit)\b|\[skip(?:\(|\])`,
      String.raw`@test\([^)]*(?:\benabled\s*=\s*false|\.disabled\b)|\btest\w*\((?:\s*\w+\s*,)?\s*disabled_|\bdisabled\(\)`,
      String.raw`\btest_case\(.*"\[\.|\bassume(?:true\(\s*false|false\(\s*true)\b|\bassumptions\.abort\(|\b__test__\s*=\s*false`,
      String.raw`\bassert\.(?:ignore|inconclusive|pass)\(|\b(?:doesnot|expectnotto)performassertions\b`,
    ].join('|'),
  ),
  linePattern(
    'excludes tests from the build',
    ['go:build', '+build', '#if'],
    String.raw`^//\s*(?:go:build|\+build)\b|^\s*#if\s+(?:0|false)\b`,
  ),
  linePattern(
    'asserts a condition that is always true',
    ['expect(', 'assert'],
    String.raw`\bexpect\(\s*(?:true\s*\)\.to(?:be(?:truthy)?|equal|strictequal)\(\s*(?:true)?\s*\)|false\s*\)\.to(?:be(?:falsy)?|equal|strictequal)\(\s*(?:false)?\s*\)|1\s*\)\.to(?:be|equal|strictequal)\(\s*1\s*\))|\bassert(?:!|_?true|\.ok|\.istrue)?\s*\(?\s*true\s*\)?\s*(?:[;,)#]|$)|\bassert_?equals?\(\s*(?:true\s*,\s*true|1\s*,\s*1)\s*[,)]`,
  ),
];

/** Rust declares tests in any file. */
export const IGNORED_IN_RUST = [
  linePattern('disables a test', ['ignore'], String.raw`#\[ignore|\bcfg_attr\(.*\bignore\b`),
];

/** What makes a run of tests accept more, in a line of its configuration. */
export const LENIENT = [
  linePattern(
    'lets a run without tests pass',
    ['passwithnotests', 'allow-empty', '"test'],
    String.raw`--?passwithnotests\b|passwithnotests"?\s*:\s*true|"test[\w:-]*"\s*:\s*"(?:echo\b[^&|;]*|exit 0|true|:)?"`,
  ),
  linePattern(
    'ignores a failure',
    ['continue-on-error', 'allow_failure', '|| true', '|| exit 0', '|| :', '; exit 0', '; true', 'failure'],
    String.raw`\bcontinue-on-error\s*:\s*true|\ballow_failure\s*:\s*true|(?:\|\||;)\s*(?:true|exit 0|:)(?:\s|["']|$)|\bignorefailures\s*=\s*true|\btestfailureignore>\s*true`,
  ),
  linePattern(
    'leaves out tests',
    [
      ...['pathignorepatterns', 'testignore', 'excludespecpattern', '--ignore', '--deselect', 'norecursedirs'],
      ...['not ', '--invert', 'skiptests', 'test.skip', 'forbidonly', 'filter_run_excluding', 'testnamepattern'],
    ],
    String.raw`\btestpathignorepatterns\b|\btestignore\b|\bexcludespecpattern\b|--ignore(?:-glob)?[= ]|--deselect\b|\bnorecursedirs\b|\s-[km][\s=]*["'\\]*not\s|--invert\b|\bskiptests>\s*true|\bmaven\.test\.skip>\s*true|\bforbidonly\s*:\s*false|\bfilter_run_excluding\b|\btestnamepattern\b`,
  ),
  linePattern(
    'leaves out code from the measured coverage',
    ['omit', 'check-coverage', 'coverageexclude', 'coverage.exclusions', 'coveragepathignorepatterns'],
    String.raw`^\s*omit\s*=|\bcheck-coverage["']?\s*:\s*false|coverageexclude\b|\bcoverage\.exclusions\b|\bcoveragepathignorepatterns\b`,
  ),
  linePattern(
    'rewrites snapshots',
    ['--updatesnapshot', '--update-snapshot', '--ci=false'],
    String.raw`--update-?snapshots?\b|--ci=false`,
  ),
];

export const SKIPPED_WORDS = wordsOf(SKIPPED);
export const IGNORED_IN_RUST_WORDS = wordsOf(IGNORED_IN_RUST);
export const LENIENT_WORDS = wordsOf(LENIENT);
