import { request } from '../../../../source-tools/http/rules/define-http-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

describe('a JSON Patch', () => {
  it('refuses a patch that repeatedly copies the document into itself', () => {
    const copies = Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '', path: `/k${i}` }));
    expect(runRule('http_patch_invalid', request({ body: copies, document: { a: 1 } }))).toMatchObject({
      status: 'BLOCK',
      reason: expect.stringContaining('copies or compares too many values'),
    });
  });
});
