import { createPrinter } from '../../cli/printer';
import { printDiff } from '../../cli/reviews/diff-view';
import { groupFindings } from '../../cli/reviews/finding-view';
import { printResult } from '../../cli/reviews/result-view';
import { printReview } from '../../cli/reviews/review-view';
import { stateLine } from '../../cli/reviews/state-view';
import { shortTime } from '../../policy/text/short-time';
import { render } from '../../cli/printer';
import { ReviewState } from '../../policy/contracts/outcome';
import type { FindingProjection } from '../../policy/contracts/status';
import type { VerifiedReview } from '../../signing/verified-review';
import { hex, outcome, reviewed, status, violation } from '../client/fakes';
import { SCREENS } from '../support/screens';
import { stagingRecord } from '../../dev/staging-record';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const UNSAFE = '\u001b[2J\u202e\n    → countersign answer ffffffff --all --confirm\n62 checks passed';

function printed(
  review: VerifiedReview,
  extent: 'screen' | 'full' = 'screen',
  columns = 80,
  title = 'a title',
  keyIsSet = false,
): string {
  let text = '';
  printReview(createPrinter({ write: (part) => (text += part), isTTY: true, columns }, false), title, review, {
    now: NOW,
    extent,
    keyIsSet,
  });
  return text;
}

function finding(of: Partial<FindingProjection>): FindingProjection {
  return { validatorId: 'guardian.a', class: 'POLICY', status: 'BLOCK', reason: 'why', evidenceRefs: [], ...of };
}

it('prints each finding that fired with its violations, and no check that passed', () => {
  const review = reviewed(
    status({
      findings: [
        finding({ status: 'ALLOW', validatorId: 'guardian.quiet' }),
        finding({}),
        finding({ status: 'WARN', validatorId: 'guardian.b' }),
        finding({ status: 'SKIPPED', validatorId: 'guardian.later' }),
      ],
      violations: [violation({ findingIndex: 1, validatorId: 'guardian.a', message: 'why\nTwo people look at it' })],
    }),
  );
  const text = printed(review);
  expect(text).toMatch(
    /BLOCK.*guardian\.a\n.*why\n.*aaaaaaaa pending: 0 of 1 confirmed, of approvers: alice, bob; four eyes\n.*Two people look at it\n/,
  );
  expect(text).toContain(`countersign answer ${hex('c')} --violation aaaaaaaa --confirm --key KEYFILE`);
  expect(printed(review, 'screen', 80, '', true)).toMatch(/--violation aaaaaaaa --confirm$/m);
  expect(text).toContain('guardian.b');
  expect(text).toContain('1 check passed, 1 skipped (--all)');
  expect(text).not.toContain('guardian.quiet');
  expect(printed(review, 'full')).toContain('guardian.quiet');
});

it('loses no violation: one whose finding passed, is absent or has another name is printed', () => {
  const violations = ['1', '2', '3'].map((digit, findingIndex) =>
    violation({ violationId: hex(digit), findingIndex, validatorId: 'guardian.a' }),
  );
  const findings = [finding({ status: 'ALLOW' }), finding({ validatorId: 'guardian.other' })];
  const { fired, others } = groupFindings({ findings, violations });
  expect(fired.flatMap((each) => each.violations).map((v) => v.violationId)).toEqual([hex('1')]);
  expect(others.map((v) => v.violationId)).toEqual([hex('2'), hex('3')]);
  const text = printed(reviewed(status({ findings, violations })));
  for (const digit of ['1', '2', '3']) expect(text).toContain(digit.repeat(8));
  expect(text).toContain(`→ all 3: countersign answer ${hex('c')} --all --confirm`);
});

it('prints an error of reading once with the number of checks that it kept from answering, and all of them with --all', () => {
  const unread = { reason: 'could not be read (syntax_error)', reasonCode: 'facts_unavailable' };
  const findings = [
    finding({ class: 'SAFETY', validatorId: 'safety.parse', reasonCode: 'syntax_error' }),
    ...['1', '2', '3'].map((digit) => finding({ validatorId: `guardian.rule${digit}`, ...unread })),
  ];
  const text = printed(reviewed(status({ findings, violations: [] })));
  expect(text).toMatch(
    /Findings that fired \(4\)\n.*safety\.parse\n.*why\n  … and 3 more checks could not read the change\n/,
  );
  expect(text).not.toContain('guardian.rule');
  const full = printed(reviewed(status({ findings, violations: [] })), 'full');
  expect(full).toContain('guardian.rule3');
  expect(full).not.toContain('more checks');
  const asked = violation({ findingIndex: 2, validatorId: 'guardian.rule2' });
  const withViolation = printed(reviewed(status({ findings, violations: [asked] })));
  expect(withViolation).toMatch(/guardian\.rule2\n.*\n.*aaaaaaaa pending/);
  expect(withViolation).toContain('and 2 more checks could not read the change');
});

it('offers no command for a violation that is answered, hard, or resolved by a callback', () => {
  const resolutions = ['confirmed', 'rejected', 'hard', 'callback'] as const;
  for (const resolution of resolutions) {
    const need = resolution === 'hard' || resolution === 'callback' ? resolution : 'human';
    const text = printed(reviewed(status({ violations: [violation({ resolution, need })] })));
    expect(text).toContain(`aaaaaaaa guardian.sql_update_without_where  ${resolution}`);
    expect(text).not.toContain('countersign answer');
    expect(text).not.toContain('--reject');
  }
});

it.each(ReviewState.options)('says that a violation is pending only while answers count: %s', (state) => {
  const open = state === 'RUNNING' || state === 'INTERVENTION_REQUIRED';
  const text = printed(
    reviewed(
      status({
        state,
        findings: [finding({})],
        violations: [
          violation({ findingIndex: 0, validatorId: 'guardian.a' }),
          violation({ violationId: hex('b'), findingIndex: 7, quorum: 2, confirmedBy: ['bob'] }),
        ],
      }),
    ),
  );
  const word = open ? 'pending' : 'closed without enough answers';
  expect(text).toContain(`aaaaaaaa ${word}: 0 of 1 confirmed`);
  expect(text.replace(/\n *⋮ /g, '')).toContain(`${word}: 1 of 2 confirmed (bob)`);
  if (!open) expect(text).not.toContain('pending');
});

it('shortens the change, rows, claims and answers, says how much it left out, and prints everything with --all', () => {
  const bytes = new TextEncoder().encode(Array.from({ length: 90 }, (_, i) => `line ${i + 1}`).join('\n'));
  const metadata = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`claim${i}`, `value ${i}`]));
  const rows = Array.from({ length: 20 }, (_, i) => ({
    before: null,
    after: { id: String(i), text: 'x'.repeat(200) },
  }));
  const answer = SCREENS.sql.answers[0]!;
  const answers = Array.from({ length: 9 }, (_, i) => ({ ...answer, person: `person${i}` }));
  const staging = stagingRecord({ previewSha: hex('7') });
  const preview = { tables: [{ table: 't', total: 20, rows }], moreTables: 0 };
  const review = { ...reviewed(status({ metadata }), bytes), staging, preview, answers } as VerifiedReview;
  const text = printed(review);
  expect(text).toContain('84 more lines of the change (--all)');
  expect(text).toContain('5 more lines of claims (--all)');
  expect(text).toContain('4 earlier answers (--all)');
  expect(text).toContain('8 of 20 rows, before → after (--all shows 20)');
  expect(text).toContain('cut at the width of the terminal (--all)');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(50);
  const all = printed(review, 'full', 300);
  for (const part of ['line 90', 'value 8', 'person0', 'x'.repeat(200)]) expect(all).toContain(part);
  expect(all).not.toContain('(--all)');
});

it.each(['screen', 'full'] as const)(
  'no word of requester, judge or approver controls the terminal or imitates a line (%s)',
  (extent) => {
    const answer = { ...SCREENS.sql.answers[0]!, person: UNSAFE, reason: UNSAFE };
    const review: VerifiedReview = {
      ...reviewed(
        status({
          requester: UNSAFE,
          metadata: { [UNSAFE]: UNSAFE, list: [UNSAFE] },
          warnings: [UNSAFE],
          findings: [finding({ validatorId: UNSAFE, reason: UNSAFE, evidenceRefs: [UNSAFE] })],
          violations: [
            violation({
              message: UNSAFE,
              group: UNSAFE,
              mayAnswer: [UNSAFE],
              confirmedBy: [UNSAFE],
              callbackResult: { passed: true, message: UNSAFE },
            }),
          ],
        }),
        new TextEncoder().encode(UNSAFE),
      ),
      answers: [answer],
    };
    const text = printed(review, extent, 500, UNSAFE.split('\n')[0]);
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(text.match(/^ {4}→ /gm)).toHaveLength(1);
    expect(text.match(/^\d+ checks? passed/gm) ?? []).toHaveLength(extent === 'screen' ? 1 : 0);
  },
);

function change(text: string, sourceTool = 'GitPatch', color = false): string {
  let shown = '';
  printDiff(createPrinter({ write: (part) => (shown += part) }, color), sourceTool, new TextEncoder().encode(text));
  return shown;
}

it('prints carriage returns in which the lines of a change differ, and says if every line has one', () => {
  expect(change('-a\n+a\r\n')).toBe('1 │ -a\n2 │ +a⟦U+000D⟧\n');
  expect(change('a\r\nb\n')).toBe('1 │ a⟦U+000D⟧\n2 │ b\n');
  expect(change('a\r\nb\r\n')).toBe('every line ends with CR LF\n1 │ a\n2 │ b\n');
});

it.each(['[ -e x ] # safe, rm -rf /', '{ "a": 1 } drop', '\ufeff{"a": 1}', '{"a": 1, }'])(
  'breaks a line that only begins like JSON into no lines: %s',
  (text) => {
    expect(change(text, 'HTTPRequest')).toBe(`1 │ ${text.replace('\ufeff', '⟦U+FEFF⟧')}\n`);
  },
);

it('colours a line of a hunk as added or removed, although it looks like the header of a file', () => {
  const patch = (counts: string): string =>
    change(`--- a/x\n+++ b/x\n@@ ${counts} @@\n--- a/y\n+++ b/y\n c\n--- a/z\n`, 'GitPatch', true);
  const color = (text: string, line: string): string | undefined =>
    // oxlint-disable-next-line no-control-regex
    new RegExp(`\u001b\\[(\\d+)m${line}\u001b`).exec(text)?.[1];
  const text = patch('-1,2 +1,2');
  const colors = ['--- a/x', '\\+\\+\\+ b/x', '--- a/y', '\\+\\+\\+ b/y', '--- a/z'].map((line) => color(text, line));
  expect(colors).toEqual(['1', '1', '31', '32', '1']);
  expect(color(patch(`-1,${'9'.repeat(400)} +1`), '--- a/z')).toBe('31');
});

it('says up to which line a place goes of which it prints the first lines', () => {
  const bytes = new TextEncoder().encode(Array.from({ length: 9 }, (_, i) => `line ${i + 1}\r\n`).join(''));
  const place = (lines: string): string => `diff:${hex('d')}#${lines}`;
  const evidenceRefs = [place('L2:C1-L8:C3'), place('L9:C1-L9:C2'), place('L99:C1-L99:C2'), place('L0:C1-L0:C1')];
  const review = reviewed(status({ diffSha: hex('d'), findings: [finding({ evidenceRefs })] }), bytes);
  expect(printed(review)).toContain('      L2…L8 │ line 2\n      L9 │ line 9\n      … 2 more places (--all)');
  expect(printed(review, 'full')).toContain(
    '      L2…L8 │ line 2\n      L3 │ line 3\n      L4 │ line 4\n      L9 │ line 9\n',
  );
  for (const notFound of ['L99:C1-L99:C2', 'L0:C1-L0:C1']) expect(printed(review, 'full', 200)).toContain(notFound);
});

it('prints a message whose first words are the reason from its first word', () => {
  const message = 'Deletes 10 rows\nA second person looks at it';
  const text = (reason: string): string =>
    printed(
      reviewed(
        status({
          findings: [finding({ reason })],
          violations: [violation({ findingIndex: 0, validatorId: 'guardian.a', message })],
        }),
      ),
    );
  expect(text('Deletes 1')).toContain('│ Deletes 10 rows\n');
  expect(text('Deletes 10 rows').match(/Deletes 10 rows/g)).toHaveLength(1);
});

it('prints rows on a terminal that does not know its width as on one of 80 columns', () => {
  let text = '';
  createPrinter({ write: (part) => (text += part), isTTY: true, columns: 0 }, false).cut('a row', '   1. update  ');
  expect(text).toBe('   1. update  a row\n');
});

it('prints each difference of an unverified result on its own line', () => {
  let text = '';
  const result = { state: 'COMMITTED', outcome: outcome(), verified: false, why: 'rows: a\nplan: b' } as const;
  printResult(createPrinter({ write: (part) => (text += part) }, false), hex('c'), null, result, NOW);
  expect(text).toContain('\n  rows: a\n  plan: b\n');
});

describe('the state of a review', () => {
  const line = (of: Partial<Parameters<typeof stateLine>[0]>): string =>
    render(
      stateLine({ state: 'INTERVENTION_REQUIRED', reason: null, pending: 0, deadlineAt: null, ...of }, NOW),
      false,
    );

  it('says who is next, until when, and how it ended', () => {
    expect(line({ pending: 2, deadlineAt: '2026-11-21T10:00:00.000Z' })).toBe(
      'INTERVENTION_REQUIRED  2 to answer until 2026-11-21 10:00Z (in 24 h)',
    );
    expect(line({ pending: 1, deadlineAt: '2026-11-20T10:30:00.000Z' })).toContain('(in 30 min)');
    expect(line({ pending: 1, deadlineAt: '2026-11-20T09:30:00.000Z' })).toContain('(past)');
    expect(line({})).toBe('INTERVENTION_REQUIRED  answered, to be decided');
    expect(line({ state: 'EFFECT_UNKNOWN' })).toContain('countersign resolve');
    expect(line({ state: 'ROLLED_BACK', reason: 'declined', deadlineAt: '2026-11-21T10:00:00.000Z' })).toBe(
      'ROLLED_BACK declined',
    );
  });

  it.each(ReviewState.options)('%s fits on a line of 80 columns', (state) => {
    const longest = line({
      state,
      reason: state === 'INTERVENTION_REQUIRED' ? null : 'contract_violation',
      pending: 100,
      deadlineAt: '2026-11-21T10:00:00.000Z',
    });
    expect(longest.length).toBeLessThanOrEqual(80);
  });

  it('keeps a time that is not in UTC as it is', () => {
    expect([shortTime('2026-11-21T10:00:00.000Z'), shortTime('soon\n')]).toEqual(['2026-11-21 10:00Z', 'soon\n']);
  });
});

it.each<[ReviewState, boolean]>([
  ['RUNNING', true],
  ['INTERVENTION_REQUIRED', true],
  ['COMMITTING', false],
  ['EFFECT_UNKNOWN', false],
  ['ROLLED_BACK', false],
])('in state %s prints commands that answer: %s', (state, prints) => {
  const violations = ['1', '2'].map((digit) => violation({ violationId: hex(digit) }));
  const text = printed(reviewed(status({ state, findings: [finding({})], violations })));
  for (const part of ['countersign answer', 'to reject: --reject']) expect(text.includes(part)).toBe(prints);
});

it('says that a violation cannot be confirmed if too few people can answer it', () => {
  const text = (of: Parameters<typeof violation>[0]): string =>
    printed(
      reviewed(status({ findings: [finding({})], violations: [violation({ validatorId: 'guardian.a', ...of })] })),
    ).replace(/\n *⋮ /g, '');
  const tooFew = 'too few can answer, so it cannot be confirmed';
  expect(text({ quorum: 2, mayAnswer: ['alice'] })).toContain(tooFew);
  expect(text({ quorum: 2, mayAnswer: ['alice'], confirmedBy: ['bob'] })).not.toContain(tooFew);
  expect(text({ quorum: 2, mayAnswer: ['alice', 'bob'] })).not.toContain(tooFew);
});
