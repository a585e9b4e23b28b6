/** Scrolls to a place of the page, opens what hides it, and highlights it until the next jump. */
export function jumpTo(ids: readonly string[]): void {
  for (const marked of document.querySelectorAll('.is-target')) marked.classList.remove('is-target');
  const found = ids.map((id) => document.getElementById(id)).filter((element) => element !== null);
  // A part of the dry run that has no separate list is somewhere in its section.
  const section = ids.some((id) => id.startsWith('dry-run')) ? document.getElementById('dry-run') : null;
  const elements = found.length === 0 && section !== null ? [section] : found;
  const [first] = elements;
  if (first === undefined) return;
  const folded = first.closest('details:not([open])');
  if (folded instanceof HTMLDetailsElement) folded.open = true;
  for (const element of elements) element.classList.add('is-target');
  const reduced = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  first.scrollIntoView({ block: 'center', behavior: reduced ? 'instant' : 'smooth' });
  if (!first.hasAttribute('tabindex')) first.tabIndex = -1;
  first.focus({ preventScroll: true });
}
