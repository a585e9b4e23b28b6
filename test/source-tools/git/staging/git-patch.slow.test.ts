import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { extractGitPatchFacts } from '../../../../source-tools/git/facts/extract-git-facts';
import type { CommitContext, StageContext } from '../../../../policy/contracts/target-effects';
import { gitPatchEffects } from '../../../../source-tools/git/staging';
import { gitOf, type GitAccess } from '../../../../source-tools/git/staging/git-access';
import { stagingSha } from '../../../../policy/contracts/staging-record';
import { toSettle } from '../../../support/to-settle';
import { memorySends } from '../../../support/memory-sends';
import {
  makeRepository,
  movePatch,
  newFilePatch,
  oneLinePatch,
  type GitRepository,
} from '../../../../dev/fixtures/git-repository';
import { diffOf, newChangeId, recordOf } from '../../../support/staged-change';

const { stage, commit, seal } = gitPatchEffects;
const INTENT_AT = '2026-03-01T12:00:00.000Z';

let repo: GitRepository;
beforeEach(() => {
  repo = makeRepository({
    'README.md': 'one\n',
    'src/app.ts': 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n',
    'src/other.ts': 'x\n',
  });
});
afterEach(() => repo.remove());

function change(patch: string, more: { settings?: object; metadata?: object; path?: string } = {}): StageContext {
  const plain = diffOf(patch, 'GitPatch');
  const metadata = { base_commit: repo.tip(), ...more.metadata };
  const target: GitAccess = { name: 'repo', git: { ...repo.target.git, repository: more.path ?? repo.path } };
  return {
    changeId: newChangeId(),
    diff: { ...plain, metadata },
    facts: extractGitPatchFacts(plain.raw),
    settings: { ...more.settings },
    target,
  };
}

async function approved(ctx: StageContext, more: Partial<CommitContext> = {}): Promise<CommitContext> {
  return {
    ...ctx,
    approved: recordOf(await stage(ctx)),
    idempotency: ctx.changeId,
    intentAt: INTENT_AT,
    sends: memorySends(),
    ...more,
  };
}

/** Applies a patch to the branch. */
async function push(patch: string, settings: object = {}): Promise<void> {
  await commit(await approved(change(patch, { settings })));
}

/** Everything in the repository: refs and object ids. */
const contents = (): string =>
  repo.git('for-each-ref') + repo.git('cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)');

const PATCH = oneLinePatch('README.md', 'one', 'two');

const deletePatch = (path: string, line: string): string =>
  `diff --git a/${path} b/${path}\ndeleted file mode 100644\n--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${line}\n`;

describe('a dry run', () => {
  it('records base, trees, modes and blobs, and leaves neither ref nor object in the repository', async () => {
    const before = contents();
    const record = recordOf(await stage(change(PATCH, { metadata: { message: 'Say two' } })));
    expect(record).toMatchObject({
      origin: 'measured',
      fullyCaptured: true,
      tables: [{ table: 'README.md', inserted: 0, updated: 1, deleted: 0 }],
      base: {
        ref: 'refs/heads/main',
        commit: repo.tip(),
        treeBefore: repo.git('rev-parse', 'main^{tree}'),
        message: 'Say two',
        paths: [
          { path: 'README.md', oldMode: '100644', newMode: '100644', oldBlob: repo.git('rev-parse', 'main:README.md') },
        ],
      },
    });
    expect(contents()).toBe(before);
  });

  it('produces the same record twice, so that an answer to one is valid for the other', async () => {
    const ctx = change(PATCH);
    expect(stagingSha(recordOf(await stage(ctx)))).toBe(stagingSha(recordOf(await stage(ctx))));
  });

  const OFFSET = `--- a/src/app.ts\n+++ b/src/app.ts\n@@ -3,3 +3,3 @@\n e\n-f\n+F\n g\n`;
  it.each<[string, string, object | undefined, string]>([
    ['names no base', PATCH, { base_commit: null }, 'metadata.base_commit'],
    ['does not apply', oneLinePatch('README.md', 'other', 'two'), undefined, 'does not apply'],
    [
      'has a hunk that applies at another line than its header states',
      OFFSET,
      undefined,
      'does not apply at the line that its header states',
    ],
    ['has a reserved trailer in its message', PATCH, { message: 'x\n\nCountersign-Change: 1' }, 'metadata.message'],
    ['leaves the tree', newFilePatch('../evil', 'x'), undefined, 'invalid path'],
    ['writes into .git', newFilePatch('.git/hooks/post-update', 'x'), undefined, 'invalid path'],
    [
      'writes into .GIT, which is .git on a case-insensitive file system',
      newFilePatch('sub/.GIT/config', 'x'),
      undefined,
      'invalid path',
    ],
    ['writes into git~1, which is .git on NTFS', newFilePatch('git~1/config', 'x'), undefined, 'invalid path'],
    ['adds a symbolic link', newFilePatch('link', 'README.md', '120000'), undefined, 'mode 120000'],
    [
      'adds a submodule',
      newFilePatch('vendor', `Subproject commit ${'a'.repeat(40)}`, '160000'),
      undefined,
      'mode 160000',
    ],
    ['adds .gitmodules', newFilePatch('.gitmodules', '[submodule "x"]'), undefined, 'submodules'],
    ['adds .gitmodules in another case', newFilePatch('.GitModules', '[submodule "x"]'), undefined, 'submodules'],
    [
      'makes a file executable, and states that it is already',
      PATCH.replace('\n', '\nold mode 100755\nnew mode 100755\n'),
      undefined,
      'which the patch does not state',
    ],
    [
      'adds a file and deletes it, which git does in the other order',
      newFilePatch('new', 'x') + deletePatch('new', 'x'),
      undefined,
      'the patch removes it, but git keeps it',
    ],
    [
      'changes a file and renames it, which git does in the other order',
      PATCH + movePatch('README.md', 'new'),
      undefined,
      'the patch removes it, but git keeps it',
    ],
    [
      'empties a file without a header that says so, which reads as its deletion',
      '--- a/README.md\n+++ b/README.md\n@@ -1 +0,0 @@\n-one\n',
      undefined,
      'the patch removes it, but git keeps it',
    ],
  ])('rejects a patch that %s, and leaves nothing behind', async (_, patch, metadata, why) => {
    const before = contents();
    const staged = await stage(change(patch, metadata === undefined ? {} : { metadata }));
    expect(staged).toEqual({ kind: 'rejected', explanation: expect.stringContaining(why) });
    expect(contents()).toBe(before);
  });

  it('is stale if the branch has moved from the base of the patch, and says where it is', async () => {
    const base_commit = repo.tip();
    const moved = repo.push({ 'src/other.ts': 'y\n' });
    expect(await stage(change(PATCH, { metadata: { base_commit } }))).toEqual({
      kind: 'rejected',
      stale: true,
      explanation: expect.stringContaining(`based on ${base_commit}, but refs/heads/main is at ${moved}`),
    });
  });

  it.each([
    ['a file', newFilePatch('readme.MD', 'x')],
    ['a folder', newFilePatch('SRC/new.ts', 'x')],
    ['a file in place of a folder', newFilePatch('Src', 'x')],
    ['a file of the same patch', newFilePatch('new/A', 'x') + newFilePatch('new/a', 'x')],
    ['a file in another Unicode form', newFilePatch('e\u0301', 'x') + newFilePatch('\u00e9', 'x')],
    ['a file that is renamed', movePatch('src/other.ts', 'src/APP.ts')],
    ['a file with an ignored character', newFilePatch('README\u200c.md', 'x')],
    ['a file with a variation selector', newFilePatch('README\ufe0f.md', 'x')],
    ['a file with a soft hyphen', newFilePatch('READ\u00adME.md', 'x')],
    ['a file with the Kelvin sign', newFilePatch('\u212a', 'x') + newFilePatch('k', 'x')],
    ['a file with a capital sharp s', newFilePatch('a\u1e9e', 'x') + newFilePatch('ass', 'x')],
    ['a file with a dot at the end', newFilePatch('README.md.', 'x')],
    ['a file with the name of a stream', newFilePatch('README.md::$DATA', 'x')],
    ['a folder with the name of its index', newFilePatch('src:$I30:$INDEX_ALLOCATION/app.ts', 'x')],
    ['a folder with a dot at the end', newFilePatch('src./app.ts', 'x')],
    ['a file of other letters that are folded to the same', newFilePatch('a\u00df', 'x') + newFilePatch('ass', 'x')],
    ['a file with another sigma', newFilePatch('\u03c2', 'x') + newFilePatch('\u03c3', 'x')],
  ])('rejects a patch that adds %s which some file systems take for another one', async (_, patch) => {
    expect(await stage(change(patch))).toMatchObject({
      kind: 'rejected',
      explanation: expect.stringContaining('the same path as'),
    });
  });

  it.each([
    ['the part after a colon', newFilePatch('Foo::Bar.3pm', 'x') + newFilePatch('Foo::Baz.3pm', 'x')],
    ['a colon', newFilePatch(':a', 'x') + newFilePatch(':b', 'x')],
    ['a dot at the start', newFilePatch('.README.md', 'x')],
    ['a space at the start', newFilePatch(' README.md', 'x')],
    ['an accent', newFilePatch('caf\u00e9', 'x') + newFilePatch('cafe', 'x')],
  ])('stages a patch that adds a file whose name differs from another by %s', async (_, patch) => {
    expect(await stage(change(patch))).toMatchObject({ kind: 'staged' });
  });

  it('fails for a symbolic ref, which a commit would replace, as a wrong configuration', async () => {
    const ctx = await approved(change(PATCH));
    repo.git('branch', 'real', 'main');
    repo.git('symbolic-ref', 'refs/heads/main', 'refs/heads/real');
    for (const act of [stage, commit])
      await expect(act(ctx)).rejects.toMatchObject({
        type: 'CONFIGURATION_ERROR',
        message: expect.stringContaining('refs/heads/main is a symbolic ref to refs/heads/real'),
      });
    expect(repo.git('symbolic-ref', 'refs/heads/main')).toBe('refs/heads/real');
  });

  it('stages a patch that only changes the case of a name, or adds a file where such names were before', async () => {
    expect(await stage(change(movePatch('README.md', 'readme.md')))).toMatchObject({ kind: 'staged' });
    repo.push({ ' ONE': '1\n', 'SRC/app.ts': 'y\n', 'SRC/one': '1\n' });
    expect(await stage(change(newFilePatch('one', 'x')))).toMatchObject({ kind: 'staged' });
    expect(await stage(change(newFilePatch('SRC/deep/new.ts', 'x')))).toMatchObject({ kind: 'staged' });
    expect(await stage(change(oneLinePatch('SRC/app.ts', 'y', 'z')))).toMatchObject({ kind: 'staged' });
    expect(await stage(change(newFilePatch('SRC/ONE', 'x')))).toMatchObject({ kind: 'rejected' });
  });

  it('rejects files in more folders than git can get as arguments', async () => {
    const deep = Array.from({ length: 20 }, (_, i) => newFilePatch(`${i}/${'d/'.repeat(145)}x`, 'x'));
    expect(await stage(change(deep.join('')))).toMatchObject({
      kind: 'rejected',
      explanation: expect.stringContaining('too many folders'),
    });
  });

  it('rejects a hunk at another line also after hundreds of files, about each of which git prints lines', async () => {
    const names = Array.from({ length: 300 }, (_, i) => `${'long-'.repeat(40)}${i}`);
    const many = names.map((name) => newFilePatch(`new/${name}`, 'x')).join('');
    expect(await stage(change(many + OFFSET))).toMatchObject({
      kind: 'rejected',
      explanation: expect.stringContaining('does not apply at the line that its header states'),
    });
    expect(await stage(change(many))).toMatchObject({ kind: 'staged' });
  });

  const NO_LINE_FEED = '\\ No newline at end of file\n';
  const LINK_CHANGED = `diff --git a/link b/link\n--- a/link\n+++ b/link\n@@ -1 +1 @@\n-README.md\n${NO_LINE_FEED}+src\n${NO_LINE_FEED}`;
  it.each([
    ['changes', LINK_CHANGED],
    ['moves', movePatch('link', 'src/link')],
    ['copies', movePatch('link', 'src/link', 'copy')],
  ])(
    'rejects a patch that %s a symbolic link without stating that it is one, even if links are allowed',
    async (_, patch) => {
      const settings = { modes: ['100644', '120000'] };
      await push(newFilePatch('link', 'README.md', '120000'), settings);
      expect(await stage(change(patch, { settings }))).toMatchObject({
        kind: 'rejected',
        explanation: expect.stringContaining('which the patch does not state'),
      });
      const stated = LINK_CHANGED.replace('\n', '\nindex 1f9d725..8c3482d 120000\n');
      expect(await stage(change(stated, { settings }))).toMatchObject({ kind: 'staged' });
    },
  );

  describe('of a binary patch', () => {
    const blobOf = (text: string): string => repo.git('rev-parse', `${repo.push({ other: text })}:other`);
    const binaryPatch = (id: string, content: string): string =>
      `diff --git a/README.md b/README.md\nindex ${repo.git('rev-parse', 'main:README.md')}..${id} 100644\n${content}`;
    /** The text "two\n". */
    const LITERAL = 'GIT binary patch\nliteral 4\nLc$_OK&*uUF1R()s\n\n';
    /** Copies nothing and inserts "two\n". */
    const DELTA = 'GIT binary patch\ndelta 7\nOc${NlVJRuk=K=r(Yyoiq\n\n';

    it.each([
      ['a literal', LITERAL],
      ['a delta', DELTA],
      ['no content', 'Binary files a/README.md and b/README.md differ\n'],
    ])('rejects %s for which git would take another object of the repository', async (_, content) => {
      const evil = blobOf('evil');
      expect(await stage(change(binaryPatch(evil, content)))).toMatchObject({
        kind: 'rejected',
        explanation: expect.stringContaining('does not apply'),
      });
    });

    it('stages a new file', async () => {
      const header = `diff --git a/new b/new\nnew file mode 100644\nindex ${'0'.repeat(40)}..${blobOf('two\n')}\n`;
      expect(await stage(change(header + LITERAL))).toMatchObject({ kind: 'staged' });
    });

    it('rejects content whose id is zero, for which git empties the file', async () => {
      expect(await stage(change(binaryPatch('0'.repeat(40), LITERAL)))).toMatchObject({
        kind: 'rejected',
        explanation: expect.stringContaining('its content is not the one in the patch'),
      });
    });

    it.each([
      ['a literal', LITERAL],
      ['a delta', DELTA],
    ])('stages and commits %s, also if its object is in the repository', async (_, content) => {
      const two = blobOf('two\n');
      const ctx = await approved(change(binaryPatch(two, content)));
      expect(await commit(ctx)).toMatchObject({ kind: 'applied' });
      expect(repo.read('README.md')).toBe('two\n');
    });
  });

  it('rejects a changed copy of an executable unless the patch states that it is one', async () => {
    await push(newFilePatch('run.sh', 'one', '100755'));
    const copied = (index: string): string =>
      `diff --git a/run.sh b/new.sh\ncopy from run.sh\ncopy to new.sh\n${index}--- a/run.sh\n+++ b/new.sh\n@@ -1 +1 @@\n-one\n+two\n`;
    expect(await stage(change(copied('')))).toMatchObject({
      kind: 'rejected',
      explanation: expect.stringContaining('which the patch does not state'),
    });
    expect(await stage(change(copied('index 1f9d725..8c3482d 100755\n')))).toMatchObject({ kind: 'staged' });
  });

  it.each([
    [
      'exchanges the names of two files',
      movePatch('README.md', 'src/other.ts') + movePatch('src/other.ts', 'README.md'),
    ],
    [
      'moves a file away and writes another in its place',
      movePatch('README.md', 'new') + newFilePatch('README.md', 'x'),
    ],
    ['changes a file twice', PATCH + oneLinePatch('README.md', 'two', 'three')],
    ['adds a file without stating its mode', '--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n'],
  ])('stages a patch that %s', async (_, patch) => {
    expect(await stage(change(patch))).toMatchObject({ kind: 'staged' });
  });

  it.each([
    ['/etc/passwd', 'link'],
    ['../outside', 'link'],
    ['../../outside', 'src/link'],
    ['src/../../outside', 'link'],
    ['.git/config', 'link'],
  ])('rejects a symbolic link to %s at %s, even if links are allowed', async (to, at) => {
    const settings = { modes: ['100644', '120000'] };
    expect(await stage(change(newFilePatch(at, to, '120000'), { settings }))).toMatchObject({
      kind: 'rejected',
      explanation: expect.stringContaining('symbolic link'),
    });
  });

  it('rejects a symbolic link that leads through another one', async () => {
    const settings = { modes: ['100644', '120000'] };
    const first = newFilePatch('dot', 'src', '120000') + newFilePatch('link', 'dot/app.ts', '120000');
    expect(await stage(change(first, { settings }))).toMatchObject({
      kind: 'rejected',
      explanation: expect.stringContaining('through another one'),
    });
    expect(await stage(change(newFilePatch('src/link', '../README.md', '120000'), { settings }))).toMatchObject({
      kind: 'staged',
    });
  });
});

describe('a commit', () => {
  it('moves the branch to a commit on the base, and computes the same id in each attempt [T65]', async () => {
    const base = repo.tip();
    const ctx = await approved(change(PATCH, { metadata: { message: 'Say two' } }));
    const result = await commit(ctx);
    expect(result).toMatchObject({
      kind: 'applied',
      replayed: false,
      effect: { commit: repo.tip(), base, ref: 'refs/heads/main', stagingSha: stagingSha(ctx.approved) },
    });
    expect(repo.git('rev-parse', 'main^')).toBe(base);
    expect(repo.read('README.md')).toBe('two\n');
    expect(repo.read('src/other.ts')).toBe('x\n');
    expect(repo.git('log', '-1', '--format=%an %at%n%B', 'main')).toBe(
      `Countersign ${Date.parse(INTENT_AT) / 1000}\nSay two\n\nCountersign-Change: ${ctx.changeId}`,
    );
    expect(repo.git('fsck', '--strict')).not.toContain('error');
    expect(await commit(ctx)).toEqual({ ...result, replayed: true });
    expect(await seal(toSettle(ctx))).toEqual({
      found: true,
      effect: result.kind === 'applied' && result.effect,
      unchecked: true,
    });
    expect(repo.git('rev-list', '--count', 'main')).toBe('2');
  });

  it('has exactly one effect when 12 attempts race [T65]', async () => {
    const ctx = await approved(change(PATCH));
    const attempt = async (): Promise<string> => {
      for (;;) {
        try {
          return (await commit(ctx)).kind;
        } catch (error) {
          // Another attempt has the lock: retry, as Temporal does.
          if ((error as { type?: string }).type !== 'TARGET_UNAVAILABLE') throw error;
        }
      }
    };
    const results = await Promise.all(Array.from({ length: 12 }, attempt));
    expect(new Set(results)).toEqual(new Set(['applied']));
    expect(repo.git('rev-list', '--count', 'main')).toBe('2');
  });

  it('writes nothing if the branch has moved, even if the patch would still apply [T61]', async () => {
    const ctx = await approved(change(PATCH));
    const moved = repo.push({ 'src/other.ts': 'y\n' });
    expect(await commit(ctx)).toMatchObject({ kind: 'stale', explanation: expect.stringContaining(moved) });
    expect(repo.tip()).toBe(moved);
  });

  it('applies nothing after it is sealed, and the seal is permanent', async () => {
    const ctx = await approved(change(PATCH));
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
    expect(await commit(ctx)).toEqual({ kind: 'sealed' });
    expect(repo.git('rev-list', '--count', 'main')).toBe('1');
  });

  it('writes nothing if the change has ended, which it checks last', async () => {
    const ctx = await approved(change(PATCH));
    const tip = repo.tip();
    expect(await commit({ ...ctx, endedMeanwhile: async () => 'an operator ended it' })).toEqual({
      kind: 'refused',
      explanation: 'an operator ended it',
    });
    expect(repo.tip()).toBe(tip);
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
  });

  it('finds its commit in the history if the marker is lost and there are later commits', async () => {
    const ctx = await approved(change(PATCH));
    await commit(ctx);
    const ours = repo.tip();
    repo.git('update-ref', '-d', `refs/countersign/changes/${ctx.changeId}`);
    const after = repo.push({ 'src/other.ts': 'y\n' });
    expect(await commit(ctx)).toMatchObject({ kind: 'applied', replayed: true, effect: { commit: ours } });
    expect(await seal(toSettle(ctx))).toMatchObject({ found: true, effect: { commit: ours }, unchecked: true });
    expect(repo.tip()).toBe(after);
  });

  it('finds its commit in the history if the seal was written before the check of the history was interrupted', async () => {
    const ctx = await approved(change(PATCH));
    await commit(ctx);
    const ours = repo.tip();
    repo.git('update-ref', '-d', `refs/countersign/changes/${ctx.changeId}`);
    repo.git('update-ref', 'refs/heads/main', `${ours}^`);
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
    repo.git('update-ref', 'refs/heads/main', ours);
    expect(await seal(toSettle(ctx))).toMatchObject({ found: true, effect: { commit: ours }, unchecked: true });
    expect(await commit(ctx)).toMatchObject({ kind: 'applied', replayed: true, effect: { commit: ours } });
  });

  it('is not reported as not applied if the history of the branch cannot be read', async () => {
    const ctx = await approved(change(PATCH));
    await commit(ctx);
    repo.git('update-ref', '-d', `refs/countersign/changes/${ctx.changeId}`);
    const lost = repo.push({ 'src/other.ts': 'y\n' });
    repo.push({ 'src/other.ts': 'z\n' });
    rmSync(join(repo.path, 'objects', lost.slice(0, 2), lost.slice(2)));
    await expect(seal(toSettle(ctx))).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
  });

  it('does not accept another commit as its own, even if message and content are copies', async () => {
    const ctx = await approved(change(PATCH));
    const tree = repo.git('rev-parse', 'main^{tree}');
    const copy = repo.git('commit-tree', tree, '-p', repo.tip(), '-m', `x\n\nCountersign-Change: ${ctx.changeId}`);
    repo.git('update-ref', 'refs/heads/main', copy);
    expect(await commit(ctx)).toMatchObject({ kind: 'stale' });
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
  });

  it('runs no hook, and ignores settings of the repository that would change the bytes', async () => {
    const trace = join(repo.path, 'hook-ran');
    for (const hook of ['reference-transaction', 'post-update', 'update']) {
      writeFileSync(join(repo.path, 'hooks', hook), `#!/bin/sh\ntouch ${trace}\n`);
      chmodSync(join(repo.path, 'hooks', hook), 0o755);
    }
    repo.git('config', 'apply.whitespace', 'fix');
    repo.git('config', 'core.fsmonitor', `touch ${trace}`);
    const ctx = await approved(change(oneLinePatch('README.md', 'one', 'two   ')));
    expect(await commit(ctx)).toMatchObject({ kind: 'applied' });
    expect(repo.read('README.md')).toBe('two   \n');
    expect(existsSync(trace)).toBe(false);
  });

  it('does not change the work tree and index of a non-bare repository', async () => {
    const work = join(repo.path, '..', 'work');
    execFileSync('git', ['clone', '--quiet', repo.path, work], { stdio: 'ignore' });
    const ctx = await approved(change(PATCH, { path: work }));
    expect(await commit(ctx)).toMatchObject({ kind: 'applied' });
    expect(execFileSync('cat', [join(work, 'README.md')], { encoding: 'utf8' })).toBe('one\n');
    expect(execFileSync('git', ['-C', work, 'show', 'main:README.md'], { encoding: 'utf8' })).toBe('two\n');
    expect(repo.read('README.md')).toBe('one\n');
  });

  it.each([
    ['the target has another ref', { ref: 'refs/heads/release' }],
    ['the repository does not exist', { repository: '/nonexistent' }],
  ])('applies nothing if %s', async (_, other) => {
    const ctx = await approved(change(PATCH));
    const target: GitAccess = { name: 'repo', git: { ...gitOf(ctx.target), ...other } };
    const outcome = await commit({ ...ctx, target }).catch((error: { type: string }) => error.type);
    expect(typeof outcome === 'string' ? outcome : outcome.kind).toMatch(/^(CONFIGURATION_ERROR|stale)$/);
    expect(repo.git('rev-list', '--count', 'main')).toBe('1');
  });
});

describe('a post validator that rejects', () => {
  const reject = async () => ({ ok: false, explanation: 'guardian.x: no' }) as const;

  it('sees the written commit, and only that commit is reverted', async () => {
    const seen: unknown[] = [];
    const base = repo.tip();
    const ctx = await approved(change(PATCH), {
      postCheck: async (record) => {
        seen.push(record.base['written'], repo.tip());
        return reject();
      },
    });
    const result = await commit(ctx);
    expect(result).toMatchObject({ kind: 'compensated', explanation: 'guardian.x: no' });
    expect(seen[0]).toBe(seen[1]);
    expect(repo.tip()).toBe(base);
    expect(await commit(ctx)).toEqual(result);
    expect(await seal(toSettle(ctx))).toMatchObject({ found: 'undone', explanation: 'guardian.x: no' });
    expect(repo.tip()).toBe(base);
  });

  /** An attempt has begun to revert, and ended before it moved the branch. */
  async function interrupted(): Promise<CommitContext> {
    const ctx = await approved(change(PATCH), { postCheck: reject });
    const lock = join(repo.path, 'refs/heads/main.lock');
    const locked: CommitContext['postCheck'] = async () => {
      writeFileSync(lock, '');
      return reject();
    };
    await expect(commit({ ...ctx, postCheck: locked })).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
    rmSync(lock);
    return ctx;
  }

  describe('in a git process that is killed after it moved the branch back', () => {
    /** Git's lock on the marker is still there. */
    async function halfReverted(): Promise<CommitContext> {
      const base = repo.tip();
      const ctx = await interrupted();
      expect(repo.git('rev-parse', 'main^')).toBe(base);
      repo.git('update-ref', 'refs/heads/main', base);
      writeFileSync(join(repo.path, `refs/countersign/changes/${ctx.changeId}.lock`), '');
      return ctx;
    }

    it.each([
      ['by the seal', () => repo.tip()],
      ['by the seal, also if there are later commits', () => repo.push({ 'src/other.ts': 'y\n' })],
    ])('is found as undone %s, and is not applied again', async (_, push) => {
      const ctx = await halfReverted();
      const tip = push();
      expect(await seal(toSettle(ctx))).toMatchObject({ found: 'undone', explanation: 'guardian.x: no' });
      expect(await commit(ctx)).toMatchObject({ kind: 'compensated', explanation: 'guardian.x: no' });
      expect(repo.tip()).toBe(tip);
    });
  });

  it.each([
    ['the seal', (ctx: CommitContext) => seal(toSettle(ctx)), { found: 'undone', explanation: 'guardian.x: no' }],
    ['the next attempt', commit, { kind: 'compensated', explanation: 'guardian.x: no' }],
  ])('is completed by %s if it ended before it moved the branch', async (_, next, expected) => {
    const base = repo.tip();
    const ctx = await interrupted();
    expect(await next({ ...ctx, postCheck: async () => ({ ok: true }) })).toMatchObject(expected);
    expect(repo.tip()).toBe(base);
  });

  it('that has reverted the commit forbids every other attempt to apply it again, even if the marker is lost', async () => {
    const base = repo.tip();
    const ctx = await interrupted();
    repo.git('update-ref', 'refs/heads/main', base);
    repo.git('update-ref', '-d', `refs/countersign/changes/${ctx.changeId}`);
    const tips: string[] = [];
    const postCheck: CommitContext['postCheck'] = async () => {
      tips.push(repo.tip());
      return { ok: true };
    };
    expect(await commit({ ...ctx, postCheck })).toMatchObject({ kind: 'compensated' });
    expect(tips).toEqual([]);
  });

  it('finds its commit removed by another client, which is then compensated', async () => {
    const base = repo.tip();
    const ctx = await approved(change(PATCH), {
      postCheck: async () => {
        repo.git('update-ref', 'refs/heads/main', base);
        return reject();
      },
    });
    expect(await commit(ctx)).toMatchObject({ kind: 'compensated' });
    expect(await seal(toSettle(ctx))).toMatchObject({ found: 'undone' });
  });

  it('reverts nothing after another attempt has reported the commit as applied', async () => {
    const ctx = await approved(change(PATCH));
    let reported: unknown;
    const late: CommitContext['postCheck'] = async () => {
      reported = await commit(ctx);
      return reject();
    };
    const result = await commit({ ...ctx, postCheck: late });
    expect(reported).toMatchObject({ kind: 'applied', effect: { commit: repo.tip() } });
    expect(result).toMatchObject({ kind: 'applied', shouldBeReverted: expect.stringContaining('not reverted') });
    expect(repo.read('README.md')).toBe('two\n');
  });

  it('reverts nothing after the seal has reported that the commit stays, even if the branch is at that commit again', async () => {
    const ctx = await approved(change(PATCH), { postCheck: reject });
    const { sends } = ctx;
    let reported: unknown;
    let ours = '';
    const suspended = async (explanation: string): Promise<boolean> => {
      const begun = await sends.beginUndo(explanation);
      ours = repo.tip();
      repo.push({ 'src/other.ts': 'y\n' });
      reported = await seal(toSettle(ctx));
      repo.git('update-ref', 'refs/heads/main', ours);
      return begun;
    };
    const result = await commit({ ...ctx, sends: { ...sends, beginUndo: suspended } });
    const shouldBeReverted = expect.stringContaining('guardian.x: no; refs/heads/main has moved');
    expect(reported).toMatchObject({ found: true, shouldBeReverted });
    expect(result).toMatchObject({ kind: 'applied', shouldBeReverted });
    expect(repo.tip()).toBe(ours);
  });

  it('that has begun to revert forbids every other attempt to report the commit as applied', async () => {
    const base = repo.tip();
    const ctx = await approved(change(PATCH));
    const late: CommitContext['postCheck'] = async () => {
      await ctx.sends.beginUndo('guardian.x: no');
      return { ok: true };
    };
    expect(await commit({ ...ctx, postCheck: late })).toMatchObject({ kind: 'compensated' });
    expect(repo.tip()).toBe(base);
  });

  it('keeps the effect, and reports it, if there are later commits', async () => {
    let laterCommit = '';
    const ctx = await approved(change(PATCH), {
      postCheck: async () => {
        laterCommit = repo.push({ 'src/other.ts': 'y\n' });
        return reject();
      },
    });
    expect(await commit(ctx)).toMatchObject({
      kind: 'applied',
      shouldBeReverted: expect.stringContaining('guardian.x: no'),
    });
    expect(repo.tip()).toBe(laterCommit);
  });
});
