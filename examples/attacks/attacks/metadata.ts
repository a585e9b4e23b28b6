/** Metadata and headers that become part of an effect, or show another one to the people who read it. */
import { newFilePatch } from '../../../dev/fixtures/git-repository';
import { heldBy, withoutRow, type Attack, type Attempt } from '../attack';
import { ifRefused } from '../if-refused';
import type { Change, Row, Testbed } from '../testbed';

let files = 0;
/** A patch that adds a file, with metadata of the attacker's choice. */
function patch(testbed: Testbed, metadata: Readonly<Record<string, string>>): Change {
  const file = `notes/${++files}.txt`;
  return {
    target: 'repo',
    sourceTool: 'GitPatch',
    raw: newFilePatch(file, `${files}`),
    metadata: { base_commit: testbed.repository.tip(), ...metadata },
  };
}

/** The submission is refused, because metadata that becomes part of the effect says something that a person must see. */
async function refusedMetadata(testbed: Testbed, change: Change, words: string): Promise<Attempt> {
  const changeId = await ifRefused(testbed.submit(change), [words], null);
  if (changeId !== null) await heldBy(testbed, changeId);
  const achieved = changeId === null ? null : 'it was not refused when it was submitted';
  return withoutRow(changeId ?? '0'.repeat(64), `metadata: ${words}`, achieved);
}

const commitMessage = (name: string, message: string, words: string): Attack => ({
  name: `metadata that becomes a commit message: ${name}`,
  run: (testbed) => refusedMetadata(testbed, patch(testbed, { message }), words),
});

/** The change is not committed, and the row `decided` says why in these words. */
async function endsAsDecided(testbed: Testbed, change: Change, words: string): Promise<Attempt> {
  const changeId = await testbed.submit(change);
  const refusal = ({ kind, body }: Row): boolean => kind === 'decided' && String(body['explanation']).includes(words);
  await testbed.waitForRow(changeId, refusal);
  const isSent = testbed.api.requests.some(({ headers }) => 'x-approved-by' in headers);
  return { changeId, refusal, achieved: isSent ? 'the target got X-Approved-By' : null };
}

/** A request with a header that a person would not expect. */
function request(testbed: Testbed, headers: object, metadata: Readonly<Record<string, unknown>> = {}): Change {
  const url = `${testbed.api.url}/flags/beta`;
  const body = { url, contentType: 'application/merge-patch+json', headers, body: { on: true } };
  const raw = JSON.stringify({ method: 'PATCH', ...body });
  return { target: 'api', sourceTool: 'HTTPPatch', raw, metadata: metadata as never };
}

export const METADATA: readonly Attack[] = [
  commitMessage(
    'a trailer Reviewed-by',
    'Fix a typo\n\nReviewed-by: Alice <alice@example.com>',
    'it claims a review or a signature',
  ),
  commitMessage(
    'a trailer Approved-by after blanks',
    'Fix a typo\n\n  approved-by : Alice <alice@example.com>',
    'it claims a review or a signature',
  ),
  commitMessage(
    'a line that claims a signature of another',
    'Fix a typo\n\nSigned-off-by: Alice <alice@example.com>',
    'it claims a review or a signature',
  ),
  commitMessage('U+202E', 'Fix a typo \u202egnihtyreve eteled\u202c', 'U+202E changes the order'),
  commitMessage('a C1 control character', 'Fix a typo\u009b2J', 'U+009B is a control character'),
  commitMessage(
    'a zero width space inside a trailer',
    'Fix a typo\n\nRe\u200bviewed-by: Alice <alice@example.com>',
    'U+200B is not shown',
  ),
  commitMessage('[skip ci]', 'Fix a typo [skip ci]', 'a directive to a pipeline'),
  {
    name: 'metadata that becomes a commit message: a secret',
    async run(testbed) {
      const message = `Fix a typo in postgres://shop:${'hunter2'}-Zq81kWx@db.example.com/shop`;
      return endsAsDecided(testbed, patch(testbed, { message }), 'safety.secrets_in_metadata: ');
    },
  },
  {
    name: 'metadata that becomes part of an effect: an author that a person never saw',
    run(testbed) {
      const change = patch(testbed, { author: 'Alice <alice@example.com>', author_name: 'Alice' });
      return refusedMetadata(testbed, change, 'metadata.author: ');
    },
  },
  {
    name: 'metadata that becomes part of an effect: show does not print it',
    async run(testbed) {
      const changeId = await testbed.submit(patch(testbed, { message: 'Delete the branch protection' }));
      await testbed.ended(changeId);
      const { out } = await testbed.cli('show', changeId);
      if (!(await testbed.targetChanged())) throw new Error('Nothing was committed');
      await testbed.baseline();
      const isShown = out.includes('Delete the branch protection');
      return withoutRow(changeId, 'show prints the commit message', isShown ? null : 'it does not');
    },
  },
  {
    name: 'header injection: a line end in a header of a request',
    run: (testbed) =>
      endsAsDecided(testbed, request(testbed, { 'X-Note': 'a\r\nX-Approved-By: alice' }), 'invalid_header: '),
  },
  {
    name: 'header injection: a header in the metadata of a request',
    run: (testbed) =>
      refusedMetadata(testbed, request(testbed, {}, { headers: { 'X-Approved-By': 'alice' } }), 'metadata.headers: '),
  },
];
