import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTargets } from '../../workers/config';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-targets-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function read(target: object): ReturnType<typeof readTargets> {
  const path = join(dir, 'targets.json');
  writeFileSync(path, JSON.stringify({ targets: [{ name: 'x', development: false, ...target }] }));
  return readTargets(path);
}

test('a target is a database, a repository or an API, with defaults for optional members', () => {
  expect(read({ stageUrl: null, commitUrl: null }).get('x')).toMatchObject({ stageUrl: null });
  expect(read({ git: { repository: '/srv/repo.git', ref: 'refs/heads/main' } }).get('x')).toMatchObject({
    git: { author: { name: 'Countersign' } },
  });
  expect(read({ http: { baseUrl: 'https://api.example.com/v1' } }).get('x')).toMatchObject({
    http: { headers: {}, queryNames: [], replaysIdempotent: false, undo: 'none' },
  });
});

test.each<[string, object]>([
  ['two kinds at once', { stageUrl: null, commitUrl: null, git: { repository: '/r', ref: 'refs/heads/main' } }],
  ['a relative path of a repository', { git: { repository: 'repo', ref: 'refs/heads/main' } }],
  ['a short branch name', { git: { repository: '/r', ref: 'main' } }],
  ['a ref that Countersign reserves', { git: { repository: '/r', ref: 'refs/countersign/changes/x' } }],
  [
    'an author with a line feed',
    { git: { repository: '/r', ref: 'refs/heads/main', author: { name: 'a\nb', email: 'e' } } },
  ],
  ['plain HTTP outside development', { http: { baseUrl: 'http://api.example.com' } }],
  ['credentials in the address', { http: { baseUrl: 'https://user:pass@api.example.com' } }],
  ['a query in the address', { http: { baseUrl: 'https://api.example.com/?key=1' } }],
  ['another scheme', { http: { baseUrl: 'file:///etc' } }],
])('refuses %s', (_, target) => {
  expect(() => read(target)).toThrow('targets.json');
});
