import { foldedExplanation, foldUnread, unreadText } from '../../../policy/rules/fold-unread';

const UNREAD = {
  reasonCode: 'facts_unavailable',
  reason: 'The diff could not be read (syntax_error), so this rule has no answer',
};

function finding(id: string, of: object = {}) {
  return { validator_id: id, class: 'POLICY', status: 'BLOCK', reason: 'why', reasonCode: 'other', ...of } as const;
}

const refusal = finding('safety.parse', {
  class: 'SAFETY',
  reason: 'syntax error at line 1',
  reasonCode: 'syntax_error',
});
const unread = (id: string, of: object = {}) => finding(id, { ...UNREAD, ...of });
const ids = (findings: readonly { readonly validator_id: string }[]) => findings.map(({ validator_id: id }) => id);

it('shows one syntax error once if a rule refuses it, whatever the order, class and status of the others', () => {
  const others = [
    unread('guardian.a'),
    unread('safety.b', { class: 'SAFETY' }),
    unread('safety.c', { class: 'SAFETY', status: 'WARN' }),
  ];
  const folded = foldUnread([...others, refusal, finding('guardian.d')]);
  expect(ids(folded.shown)).toEqual(['safety.parse', 'guardian.d']);
  expect(ids(folded.unread)).toEqual(['guardian.a', 'safety.b', 'safety.c']);
});

it('shows each reason that differs, also another error of reading', () => {
  const findings = [
    refusal,
    unread('guardian.a', { reason: 'The diff could not be read (too_large), so this rule has no answer' }),
    unread('guardian.b', { reason: 'The diff could not be read, so its metadata could not be checked' }),
    unread('guardian.c', { status: 'ALLOW' }),
    finding('guardian.d', { reason: UNREAD.reason }),
  ];
  expect(foldUnread(findings)).toEqual({ shown: findings, unread: [] });
});

it('shows one of each class and status if no rule names the error', () => {
  const hard = (id: string) => unread(id, { class: 'SAFETY' });
  const findings = [hard('safety.a'), hard('safety.b'), unread('guardian.c'), unread('guardian.d')];
  expect(ids(foldUnread(findings).shown)).toEqual(['safety.a', 'guardian.c']);
});

it('shows each finding that a person is asked about: every POLICY finding of a change without a hard block', () => {
  const warned = { ...refusal, status: 'WARN' } as const;
  const findings = [
    warned,
    finding('guardian.parse', { reasonCode: 'syntax_error' }),
    unread('guardian.a'),
    unread('guardian.b'),
  ];
  expect(foldUnread(findings)).toEqual({ shown: findings, unread: [] });
});

it('shortens the text of a decision by exactly the lines of these findings, and counts all of them as the rest of the view does', () => {
  const findings = [
    refusal,
    ...['safety.a', 'safety.b'].map((id) => unread(id, { class: 'SAFETY' })),
    unread('guardian.c'),
  ];
  const lines = findings.slice(0, 3).map(({ validator_id: id, reason }) => `${id}: ${reason}`);
  expect(foldedExplanation(lines.join('\n'), findings)).toBe(
    'safety.parse: syntax error at line 1\nand 3 more checks could not read the change',
  );
  const text = `Withdrawn by carol: ${lines.join(' ')}`;
  expect(foldedExplanation(text, findings)).toBe(text);
});

it('counts the checks in words, and says nothing about 0', () => {
  expect([0, 1, 21].map(unreadText)).toEqual([
    null,
    'and 1 more check could not read the change',
    'and 21 more checks could not read the change',
  ]);
});
