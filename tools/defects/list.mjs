// Defects that somebody could make by mistake, each as an edit of one place: `from` must stand in the file exactly once.
// `through` says what it would let happen; `tests` are the files that should catch it.
const VERIFY = ['test/activities/committer/verify-change.test.ts'];
const COMMIT = ['test/activities/committer/commit.test.ts'];
const RECORDS = ['test/activities/committer/attested-outcomes.test.ts'];
const ADMIT = ['test/activities/answers/admit.test.ts'];
const DECIDE = ['test/policy/decide/decision-table.test.ts', 'test/policy/decide/properties.test.ts'];
const VIOLATIONS = ['test/policy/decide/violations.test.ts'];
<<<<<<< HEAD
const TARGET = ['test/activities/staging/commit.slow.test.ts'];
=======
const LATE = ['test/activities/committer/late-attempt.test.ts', 'test/activities/committer/lost-seal.test.ts'];
const TARGET = ['test/activities/staging/commit.test.ts'];
>>>>>>> c0ef5ac (A found effect meets its post validators, and an attempt that slept through an operator's word applies nothing)

const verify = 'activities/committer/verify-change.ts';
const commit = 'activities/committer/commit.ts';
const applyChange = 'activities/committer/apply-change.ts';
const giveUp = 'activities/committer/give-up.ts';
const judge = 'signing/judge-answer.ts';
const registry = 'signing/registry-verify.ts';
const decide = 'policy/decide/decide.ts';
const violations = 'policy/decide/violations.ts';
const apply = 'activities/staging/sql/apply.ts';

/** `what` is the condition of an `if`, which the defect makes false. */
const never = (what) => ({ from: `if (${what}`, to: `if (false && ${what}` });

export const DEFECTS = [
  {
    name: 'skip the hash check of stored bytes',
    through: 'other bytes than were approved',
    file: 'activities/store/byte-store.ts',
    ...never('actual !== digest)'),
    tests: ['test/activities/store/byte-store.slow.test.ts'],
  },
  {
    name: 'accept a plan that the review did not pin',
    through: 'a change judged by a weaker policy',
    file: verify,
    ...never('planned !== input.planHash)'),
    tests: VERIFY,
  },
  {
    name: 'swallow a judge error',
    through: 'a change that no judge has seen',
    file: verify,
    from: "else outcomes.set(validator.id, { kind: 'result', result: missing });",
    to: "else outcomes.set(validator.id, { kind: 'result', result: { validator_id: validator.id, status: 'ALLOW', reason: '', evidenceRefs: [] } });",
    tests: VERIFY,
  },
  {
    name: 'skip the ledger’s chain',
    through: 'rows that were changed, taken out or moved',
    file: verify,
    ...never('!chain.ok)'),
    tests: VERIFY,
  },
  {
    name: 'believe the id of a change',
    through: 'the answers of one change for another',
    file: verify,
    ...never('changeIdOf(submission) !== changeId)'),
    tests: VERIFY,
  },
  {
    name: 'take the policy’s word for a development target',
    through: 'demo keys and unsigned answers in production',
    file: verify,
    ...never('plan.development && !development)'),
    tests: VERIFY,
  },
  {
    name: 'skip the hash of the staging record',
    through: 'rows that nobody was shown',
    file: verify,
    from: '(staging === null || stagingShaOf(staging) !== input.stagingSha)',
    to: 'staging === null',
    tests: VERIFY,
  },
  {
    name: 'commit an enforced change without a dry run',
    through: 'effects that nobody saw beforehand',
    file: verify,
    ...never("staging === null && plan.mode === 'enforced')"),
    tests: VERIFY,
  },
  {
    name: 'believe the findings that were disclosed',
    through: 'a finding that was hidden from people',
    file: verify,
    from: 'return agreed ? disclosed : null;',
    to: 'return disclosed;',
    tests: VERIFY,
  },
  {
    name: 'skip the fingerprint',
    through: 'answers to something else than what stands',
    file: verify,
    ...never('bound !== (disclosed?.fingerprint ?? null) || bound !== input.fingerprint)'),
    tests: VERIFY,
  },
  {
    name: 'forget a reject that stands in the ledger',
    through: 'a rejected change, after a reset',
    file: verify,
    ...never('rejected !== undefined)'),
    tests: VERIFY,
  },
  {
    name: 'forget a reject of the same change under another request key',
    through: 'a rejected change, submitted again',
    file: verify,
    ...never('rejects.length > 0 && !toldOfRejects(plan, findings))'),
    tests: VERIFY,
  },
  {
    name: 'ignore the commit window',
    through: 'a commit on an answer of last week',
    file: verify,
    ...never('since !== null && !(Date.parse(at)'),
    tests: VERIFY,
  },
  {
    name: 'take the latest instead of the strictest record',
    through: 'a judge that is asked until it allows',
    file: 'activities/committer/attested-outcomes.ts',
    from: '(w === null || rank(r) > rank(w) ? r : w)',
    to: 'r',
    tests: RECORDS,
  },
  {
    name: 'skip the digest of what an attestor was given',
    through: 'a judgement on another input',
    file: 'activities/committer/attested-outcomes.ts',
    from: 'p.inputDigest === attestedInputDigest(expected.kind, expected.given)',
    to: 'true',
    tests: RECORDS,
  },
  {
    name: 'skip the nonce',
    through: 'an answer that never was admitted',
    file: 'signing/verify-answers.ts',
    from: 'if (nonces === null) return null;',
    to: 'return null;',
    tests: VERIFY,
  },
  {
    name: 'ignore quorum',
    through: 'one confirm where two are needed',
    file: decide,
    from: 'people.size >= violation.quorum',
    to: 'people.size >= 1',
    tests: DECIDE,
  },
  {
    name: 'count one person twice',
    through: 'one person with two keys as two',
    file: decide,
    from: 'new Set(counted.map((a) => a.person))',
    to: 'new Set(counted.map((a) => a.digest))',
    tests: DECIDE,
  },
  {
    name: 'drop four eyes from the decision',
    through: 'a requester who confirms his own change',
    file: decide,
    from: ' && !(violation.fourEyes && person === input.requester)',
    to: '',
    tests: DECIDE,
  },
  {
    name: 'count an answer after the deadline',
    through: 'a change that had expired',
    file: decide,
    from: 'Date.parse(a.admittedAt) < deadline &&',
    to: '',
    tests: DECIDE,
  },
  {
    name: 'let a finding fire without a violation',
    through: 'a swallowed violation',
    file: decide,
    from: 'return swallowed === -1 ? null :',
    to: 'return true ? null :',
    tests: DECIDE,
  },
  {
    name: 'ask an unknown requester’s change of one person only',
    through: 'four eyes escaped by leaving the signature out',
    file: violations,
    from: 'policy.fourEyes && context.requester === null ? policy.quorum + 1 : policy.quorum',
    to: 'policy.quorum',
    tests: [...VIOLATIONS, ...VERIFY],
  },
  {
    name: 'let a callback resolve an ERROR',
    through: 'a change that nothing could judge',
    file: violations,
    ...never("finding.errorClass !== undefined) return 'human'"),
    tests: [...VIOLATIONS, ...DECIDE],
  },
  {
    name: 'accept an expired answer',
    through: 'a confirm that was good last year',
    file: judge,
    ...never('Date.parse(expiresAt) <= now)'),
    tests: ADMIT,
  },
  {
    name: 'count an agent',
    through: 'an agent that approves itself',
    file: judge,
    ...never("key.subject.type !== 'person')"),
    tests: ADMIT,
  },
  {
    name: 'skip the group at admission',
    through: 'an answer of anybody with a key',
    file: judge,
    ...never('!violation.members.includes(person))'),
    tests: ADMIT,
  },
  {
    name: 'take an unsigned answer everywhere',
    through: 'a forged signal, as in a plain workflow',
    file: judge,
    ...never("scope.answersMode !== 'unsigned' || !scope.development)"),
    tests: ADMIT,
  },
  {
    name: 'admit answers after a reset of an ended review',
    through: 'people who are told that their answer counts',
    file: 'activities/answers/admit.ts',
    from: 'input.closed || rows.length < stored.length',
    to: 'input.closed',
    tests: ADMIT,
  },
  {
    name: 'accept a revoked key',
    through: 'the answer of one who has left',
    file: registry,
    ...never('key.revokedAt !== null)'),
    tests: VERIFY,
  },
  {
    name: 'accept any kind of key',
    through: 'an attestor or a service that approves',
    file: registry,
    ...never('key.kind !== expected.keyKind)'),
    tests: VERIFY,
  },
  {
    name: 'accept demo keys in production',
    through: 'keys that lie in everybody’s first run',
    file: registry,
    ...never('key.demo && !expected.development)'),
    tests: [...VERIFY, ...ADMIT],
  },
  {
    name: 'take a submission’s signature for any change',
    through: 'another requester than the one who asked',
    file: 'signing/verify-submission.ts',
    ...never('predicate.changeId !== changeId(submission) ||'),
    tests: VERIFY,
  },
  {
    name: 'commit without an intent row',
    through: 'an effect that the ledger does not know',
    file: commit,
    from: "await begin(deps, changeId, { kind: 'intent' }, { planHash, stagingSha, fingerprint })",
    to: "{ kind: 'intent' }",
    tests: COMMIT,
  },
  {
    name: 'do not look again after the intent',
    through: 'a commit over a reject that came meanwhile',
    file: commit,
    ...never('answersIn(now) !== answersIn(rows))'),
    tests: COMMIT,
  },
  {
    name: 'roll back without sealing the marker',
    through: 'a sleeping attempt that commits after the rollback',
    file: giveUp,
    from: 'effects.seal(',
    to: 'effects.readBack(',
    tests: COMMIT,
  },
  {
    name: 'seal before saying why',
    through: 'a reason that nobody can tell once the answer to the seal is lost',
    file: giveUp,
    from: 'await deps.ledger.append(',
    to: 'void (',
    tests: LATE,
  },
  {
    name: 'apply without asking whether the change has ended',
    through: 'a sleeping attempt that commits after an operator’s word',
    file: apply,
    ...never('ended !== null)'),
    tests: LATE,
  },
  {
    name: 'take the word that nothing was applied at once',
    through: 'a rollback on the receipt and an effect in the target',
    file: commit,
    ...never('!applied && lateMs > 0)'),
    tests: LATE,
  },
  {
    name: 'take a found effect for a checked one',
    through: 'an effect that no post validator has seen',
    file: giveUp,
    ...never('found.unchecked === true)'),
    tests: COMMIT,
  },
  {
    name: 'ignore post validators',
    through: 'an effect that is not the one of the dry run',
    file: applyChange,
    from: 'return failing.length === 0',
    to: 'return true',
    tests: COMMIT,
  },
  {
    name: 'ignore a marker that stands',
    through: 'the same change twice',
    file: apply,
    from: '(await takeMarker(session, ctx.idempotency, settings.statementTimeoutMs))',
    to: '((await takeMarker(session, ctx.idempotency, settings.statementTimeoutMs)), true)',
    tests: TARGET,
  },
  {
    name: 'commit marker and effect apart',
    through: 'an effect that is applied, and looks as if it were not',
    file: apply,
    from: 'await writeEffect(session, ctx.idempotency, stored);',
    to: '',
    tests: TARGET,
  },
  {
    name: 'commit on a base that has moved',
    through: 'rows that changed since people looked',
    file: apply,
    ...never('difference !== null)'),
    tests: TARGET,
  },
  {
    name: 'run an activity on any input under a change’s id',
    through: 'findings and records of another diff in its ledger',
    file: 'activities/changes/opened-change.ts',
    from: 'if (wrong === undefined) return;',
    to: 'if (wrong === undefined || true) return;',
    tests: ['test/activities/changes/opened-change.test.ts'],
  },
  {
    name: 'dry-run what a guardian forbids',
    through: 'a hidden DROP that is executed before anybody looked',
    file: 'activities/committer/stage.ts',
    ...never('forbidding.length > 0)'),
    tests: ['test/activities/committer/stage.test.ts'],
  },
  {
    name: 'sign the caller’s words of a judge’s failure',
    through: 'a reassuring sentence under the judge’s key',
    file: 'policy/judge/failure.ts',
    from: "KNOWN_TYPES.has(failureType) ? failureType : 'why is not known'",
    to: 'message',
    tests: ['test/policy/judge/failure.test.ts'],
  },
];
