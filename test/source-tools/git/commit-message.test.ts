import { effectMetadataProblem } from '../../../policy/contracts/effect-metadata';
import { commitMessageProblem } from '../../../source-tools/git/commit-message';
import { gitPatch } from '../../../source-tools/git';
import { httpPatch } from '../../../source-tools/http';

it.each([
  'Say two',
  'fix(shop): round the price to whole cents',
  'feat!: drop the old price list\n\nThe list is empty since March.\nSee: https://example.com/issues/7\nFixes: #12',
  'Prüfe den Preis — in Cent\n\n- one\n- two: three',
  'Größe ändern\n\nhttps://example.com/a',
  'Sort the report by date',
  'Listen on 10.0.0.1:80\n\nlocalhost:8080 stays.\nnew-name::b,\nstd::move, a::b and\n12:30 too.',
])('a plain message may become a commit message: %j', (message) => {
  expect(commitMessageProblem(message)).toBeNull();
});

it.each([
  ['is not text', 7],
  ['is empty', ' \n'],
  ['is too long', 'x'.repeat(4001)],
  ['has a lone surrogate', 'a\ud800b'],
  ['reorders text', 'Fix a typo \u202egnihtyreve eteled\u202c'],
  ['has an escape character', 'Fix\u001b[2J'],
  ['has a C1 control character', 'Fix\u009b2J'],
  ['has a carriage return', 'Fix\rReviewed'],
  ['has an invisible character', 'Fix\n\nRe\u200bviewed-by: Alice'],
  ['imitates Latin letters', 'Fix\n\nRevi\u0435wed-by: Alice'],
  ['claims a review', 'Fix\n\nReviewed-by: Alice <alice@example.com>'],
  ['claims a review after blanks', 'Fix\n\n  reviewed-BY : Alice'],
  ['claims a review in prose', 'Fix, approved by Alice'],
  ['claims a review in the subject', 'Reviewed-by: Alice'],
  ['claims an acknowledgement', 'Fix\n\nAcked-by: Alice'],
  ['claims a test', 'Fix\n\nTested-by: Alice'],
  ['claims a signature of another', 'Fix\n\nSigned-off-by: Alice'],
  ['names another author', 'Fix\n\nCo-authored-by: Alice'],
  ['has a trailer that is not on the list', 'Fix\n\nChange-Id: I12'],
  ['has our own trailer', 'Fix\n\nCountersign-Change: 1'],
  ['has our own trailer without a space', 'Fix\n\nCountersign-Change:1'],
  ['has another trailer without a space', 'Fix\n\nRelease-As:9.9.9'],
  ['skips the pipeline', 'Fix [skip ci]'],
  ['skips the pipeline in other words', 'Fix\n\n[ci skip]'],
  ['skips the pipeline of one host', 'Fix [skip azurepipelines]'],
  ['skips the checks', 'Fix\n\nskip-checks: true'],
  ['skips the pipeline with stars', 'Fix ***NO_CI***'],
])('a message that %s is refused', (_what, message) => {
  expect(commitMessageProblem(message)).not.toBeNull();
});

it('metadata that looks as if it had an effect, but has none, is refused with its name', () => {
  const { effectMetadata } = gitPatch;
  expect(
    effectMetadataProblem(effectMetadata, { base_commit: 'a'.repeat(40), message: 'Say two', why: 'asked' }),
  ).toBeNull();
  expect(effectMetadataProblem(effectMetadata, { author: 'Alice' })).toMatchObject({ field: 'metadata.author' });
  expect(effectMetadataProblem(effectMetadata, { message: 'Fix [skip ci]' })).toMatchObject({
    field: 'metadata.message',
  });
  expect(effectMetadataProblem(httpPatch.effectMetadata, { headers: {} })).toMatchObject({ field: 'metadata.headers' });
});
