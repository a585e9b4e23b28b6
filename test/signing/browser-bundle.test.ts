import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/root';

it('what verifies a review and signs an answer runs in a browser: it reaches no module of Node', () => {
  const entries = [
    'signing/verified-review.ts',
    'signing/passkey.ts',
    'client/answer-statements.ts',
    'policy/evidence/passkey-challenge.ts',
  ];
  const script = join(ROOT, 'test/support/browser-bundle.mjs');
  const text = execFileSync(process.execPath, [script, ...entries], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const bundled = JSON.parse(text) as { imports: string[]; modules: string[]; code: string };
  expect(bundled.imports).toEqual([]);
  expect(bundled.modules).toContain(join(ROOT, 'signing/verify-signature.browser.ts'));
  expect(bundled.modules).not.toContain(join(ROOT, 'signing/verify-signature.ts'));
  // policy/contracts/hash asks for it where `process` exists, and does without it elsewhere.
  const code = bundled.code.replace(/process\.getBuiltinModule\(["'`]node:crypto["'`]\)/, '');
  expect(code.match(/["']node:[a-z]+|\brequire\(|\bBuffer\.|\bprocess\.env/g)).toBeNull();
});
