import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const root = join(__dirname, '..', '..', '..', '..');
const MAX_GZIPPED = 150 * 1024;

describe('the built page', () => {
  let out: string;
  beforeAll(() => {
    out = mkdtempSync(join(tmpdir(), 'countersign-page-'));
    execFileSync(process.execPath, [join(root, 'scripts', 'build-inbox.mjs'), out], { stdio: 'pipe' });
  }, 60_000);
  afterAll(() => rmSync(out, { recursive: true, force: true }));

  it('is one script of at most 150 KB gzipped, which imports nothing and evaluates no text', () => {
    const scripts = readdirSync(out).filter((name) => name.endsWith('.js'));
    expect(scripts).toHaveLength(1);
    const code = readFileSync(join(out, scripts[0] ?? ''), 'utf8');
    expect(gzipSync(code).length).toBeLessThan(MAX_GZIPPED);
    expect(code).not.toMatch(/\bfrom\s*["']|\bimport\s*\(|\brequire\s*\(|\beval\s*\(/);
  });

  it('has no inline script, style or handler, and asks no other origin', () => {
    const html = readFileSync(join(out, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\sstyle=|\son[a-z]+=|https?:/i);
    for (const [, name = ''] of html.matchAll(/(?:src|href)="assets\/([^"]+)"/g))
      expect(readdirSync(out)).toContain(name);
    for (const name of readdirSync(out).filter((each) => each.endsWith('.css')))
      expect(readFileSync(join(out, name), 'utf8')).not.toMatch(/url\(|@import/);
  });
});
