import { useEffect, useRef, useState } from 'preact/hooks';

const VISIBLE_SHARE = 0.5;
const VISIBLE_MS = 500;
/** Height of the bar at the bottom, which covers what is below it. */
const COVERED = '0px 0px -64px 0px';

/**
 * The blocks of evidence that were on screen: at least half of the element for at least half a second, in a page that is visible. An
 * element names its blocks in `data-block`, separated by spaces. A new `reviewed` starts again.
 */
export function useCoverage(reviewed: string): ReadonlySet<string> {
  const [seen, setSeen] = useState<{ readonly of: string; readonly blocks: ReadonlySet<string> }>(NONE);
  const timers = useRef(new Map<Element, ReturnType<typeof setTimeout>>());
  useEffect(() => {
    const current = timers.current;
    const onSeen = (element: Element): void => {
      current.delete(element);
      if (document.visibilityState !== 'visible') return;
      const blocks = (element.getAttribute('data-block') ?? '').split(' ').filter((block) => block !== '');
      setSeen((known) => {
        const before = known.of === reviewed ? known.blocks : NONE.blocks;
        return blocks.every((block) => before.has(block)) && known.of === reviewed
          ? known
          : { of: reviewed, blocks: new Set([...before, ...blocks]) };
      });
    };
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, intersectionRatio } of entries) {
          clearTimeout(current.get(target));
          current.delete(target);
          if (intersectionRatio >= VISIBLE_SHARE && document.visibilityState === 'visible')
            current.set(
              target,
              setTimeout(() => onSeen(target), VISIBLE_MS),
            );
        }
      },
      { threshold: [0, VISIBLE_SHARE], rootMargin: COVERED },
    );
    const watched = new Set<Element>();
    const watch = (): void => {
      for (const element of document.querySelectorAll('[data-block]')) {
        if (watched.has(element)) continue;
        watched.add(element);
        observer.observe(element);
      }
    };
    watch();
    const added = new MutationObserver(watch);
    added.observe(document.body, { childList: true, subtree: true });
    // A page in the background sees nothing: what was on screen is looked at again.
    const onVisibility = (): void => {
      for (const timer of current.values()) clearTimeout(timer);
      current.clear();
      observer.disconnect();
      watched.clear();
      if (document.visibilityState === 'visible') watch();
    };
    document.addEventListener('visibilitychange', onVisibility);
    return () => {
      document.removeEventListener('visibilitychange', onVisibility);
      added.disconnect();
      observer.disconnect();
      for (const timer of current.values()) clearTimeout(timer);
      current.clear();
    };
  }, [reviewed]);
  return seen.of === reviewed ? seen.blocks : NONE.blocks;
}

const NONE: { readonly of: string; readonly blocks: ReadonlySet<string> } = { of: '', blocks: new Set() };
