import { patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { firedReason } from '../../../policy/rules/support/run-pack-rule';

const COPIED = [
  'diff --git a/run.sh b/other.sh',
  'similarity index 50%',
  'copy from run.sh',
  'copy to other.sh',
  'index 1f9d725..8c3482d 100755',
  '--- a/run.sh',
  '+++ b/other.sh',
  '@@ -1 +1 @@',
  '-one',
  '+two',
  '',
].join('\n');

describe('git_mode', () => {
  it('finds a copy of an executable, which is a new executable', () => {
    expect(firedReason('git_mode', COPIED)).toContain('becomes executable');
    expect(firedReason('git_mode', COPIED.replaceAll('copy ', 'rename '))).toBeNull();
  });

  it('finds a submodule that is removed, with everything below it', () => {
    const lines = [`-Subproject commit ${'1'.repeat(40)}`];
    expect(firedReason('git_mode', patchOf('sub', ['deleted file mode 160000'], lines))).toContain('submodule');
    expect(firedReason('git_mode', patchOf('link', ['deleted file mode 120000'], ['-a.txt']))).toBeNull();
  });
});

describe('git_symlink_escape', () => {
  it.each(['.git/hooks', '.GIT/config', '.git./config', 'GIT~1/config', '.g\u200cit/config'])(
    'finds a link to %s, which some file system reads as .git',
    (target) => {
      expect(firedReason('git_symlink_escape', patchOf('link', ['new file mode 120000'], [`+${target}`]))).toContain(
        'links into .git',
      );
    },
  );
});

describe('git_path_traversal', () => {
  it.each([
    ...['n.', 'package.json.', 'a.b./c', 'con..txt', 'GITHUB~1/workflows/ci.yml', 'COUNTE~1.YAM'],
    ...['.npmrc::$DATA', 'CONIN$'],
  ])('finds %s, which some systems read as another name', (path) => {
    expect(firedReason('git_path_traversal', patchOf(path, ['new file mode 100644'], ['+x']))).not.toBeNull();
  });
});
