/**
 * `*` within one name, `**` across folders, `**` with a slash after it also for no folder at all; a pattern that ends in a
 * slash covers what is in the folder. Every other character stands for itself. At worst the product of both lengths,
 * on ordinary patterns linear.
 */
export function globCovers(glob: string, path: string): boolean {
  const pattern = glob.endsWith('/') ? `${glob}**` : glob;
  let p = 0;
  let i = 0;
  // Where to go on after a mismatch: after the last star, and after the last pair of them, which may take any slash.
  let star = -1;
  let starAt = -1;
  let deep = -1;
  let deepAt = -1;
  /** `**` with a slash takes whole folders only. */
  let folders = false;
  for (;;) {
    if (pattern.startsWith('**', p)) {
      folders = pattern[p + 2] === '/' && (p === 0 || pattern[p - 1] === '/');
      p += folders ? 3 : 2;
      [deep, deepAt, star] = [p, i, -1];
      continue;
    }
    if (pattern[p] === '*') {
      p++;
      [star, starAt] = [p, i];
      continue;
    }
    if (i === path.length && p === pattern.length) return true;
    if (i < path.length && p < pattern.length && pattern[p] === path[i]) {
      p++;
      i++;
      continue;
    }
    if (star !== -1 && starAt < path.length && path[starAt] !== '/') {
      p = star;
      i = ++starAt;
      continue;
    }
    if (deep === -1) return false;
    if (folders) {
      const slash = path.indexOf('/', deepAt);
      if (slash === -1) return false;
      deepAt = slash + 1;
    } else if (++deepAt > path.length) return false;
    [p, i, star] = [deep, deepAt, -1];
  }
}

/** The first of `globs` that covers the path, whatever the case: file systems differ on that. */
export function coveringGlob(globs: readonly string[], path: string): string | undefined {
  const lower = path.toLowerCase();
  return globs.find((glob) => globCovers(glob.toLowerCase(), lower));
}
