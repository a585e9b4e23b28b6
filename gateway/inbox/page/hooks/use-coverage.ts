import { useEffect, useState } from 'preact/hooks';

const VISIBLE_SHARE = 0.5;
const VISIBLE_MS = 500;

/**
 * The blocks of evidence that were on screen for half a second, in a page that is visible: at least half of the element, or as much of it
 * as fills half of what the bars leave of the window, since the window never shows half of a very long line. A new `reviewed` starts again.
 */
export function useCoverage(reviewed: string): ReadonlySet<string> {
  const [seen, setSeen] = useState<{ readonly of: string; readonly blocks: ReadonlySet<string> }>(NONE);
  useEffect(
    () =>
      watchBlocks((blocks) =>
        setSeen((known) => {
          const before = known.of === reviewed ? known.blocks : NONE.blocks;
          return blocks.every((block) => before.has(block)) && known.of === reviewed
            ? known
            : { of: reviewed, blocks: new Set([...before, ...blocks]) };
        }),
      ),
    [reviewed],
  );
  return seen.of === reviewed ? seen.blocks : NONE.blocks;
}

const NONE: { readonly of: string; readonly blocks: ReadonlySet<string> } = { of: '', blocks: new Set() };

/** Elements in one part of the window. */
interface Watch {
  readonly visible: Set<Element>;
  readonly observer: IntersectionObserver;
}

interface Margins {
  /** The window without its bars, which cover what is behind them. */
  readonly uncovered: string;
  /** The line across the middle of it: what it crosses is half visible, or fills half of it. */
  readonly middle: string;
}

/** The bar that signs is higher while it asks to type what a change touches. Null if the bars cover everything. */
function marginsNow(): Margins | null {
  const [top, bottom] = [heightOfBar('top'), heightOfBar('bottom')];
  const { innerHeight: height } = window;
  if (top + bottom >= height) return null;
  const middle = Math.round((height + top - bottom) / 2);
  return { uncovered: `-${top}px 0px -${bottom}px 0px`, middle: `-${middle}px 0px -${height - middle}px 0px` };
}

/** 0 if there is no bar at this edge, or if it scrolls with the page, as on a phone. */
function heightOfBar(edge: 'top' | 'bottom'): number {
  const bar = document.querySelector(`[data-bar="${edge}"]`);
  return bar === null || getComputedStyle(bar).position === 'static'
    ? 0
    : Math.ceil(bar.getBoundingClientRect().height);
}

/** Calls `onSeen` with the blocks that an element names in `data-block`, separated by spaces. Returns how to stop. */
function watchBlocks(onSeen: (blocks: readonly string[]) => void): () => void {
  const timers = new Map<Element, ReturnType<typeof setTimeout>>();
  const visibleIn = (rootMargin: string, share: number): Watch => {
    const visible = new Set<Element>();
    const onChange = (entries: readonly IntersectionObserverEntry[]): void => {
      for (const { target, isIntersecting, intersectionRatio } of entries) {
        if (isIntersecting && intersectionRatio >= share) visible.add(target);
        else visible.delete(target);
        update(target);
      }
    };
    return { visible, observer: new IntersectionObserver(onChange, { threshold: [0, share], rootMargin }) };
  };
  let margins: Margins | null = null;
  let watches: readonly Watch[] = [];
  /** Starts the timer of an element that came on screen, and stops that of one that left. */
  const update = (element: Element): void => {
    if (!watches.some(({ visible }) => visible.has(element)) || document.visibilityState !== 'visible') {
      clearTimeout(timers.get(element));
      timers.delete(element);
    } else if (!timers.has(element)) {
      const see = (): void => onSeen((element.getAttribute('data-block') ?? '').split(' ').filter(Boolean));
      timers.set(element, setTimeout(see, VISIBLE_MS));
    }
  };
  const watched = new Set<Element>();
  const measured = new WeakSet<Element>();
  const watch = (): void => {
    const now = marginsNow();
    if (now?.uncovered !== margins?.uncovered || now?.middle !== margins?.middle) {
      stop();
      margins = now;
      watches = now === null ? [] : [visibleIn(now.uncovered, VISIBLE_SHARE), visibleIn(now.middle, 0)];
    }
    for (const bar of document.querySelectorAll('[data-bar]')) {
      if (measured.has(bar)) continue;
      measured.add(bar);
      sizes.observe(bar);
    }
    for (const element of document.querySelectorAll('[data-block]')) {
      if (watched.has(element)) continue;
      watched.add(element);
      for (const { observer } of watches) observer.observe(element);
    }
  };
  const stop = (): void => {
    for (const timer of timers.values()) clearTimeout(timer);
    timers.clear();
    watched.clear();
    for (const { observer, visible } of watches) {
      observer.disconnect();
      visible.clear();
    }
  };
  // Also the text of a bar can make it higher.
  const sizes = new ResizeObserver(() => watch());
  watch();
  const added = new MutationObserver(watch);
  added.observe(document.body, { childList: true, subtree: true });
  // A page in the background sees nothing: what was on screen is looked at again.
  const onVisibility = (): void => {
    stop();
    if (document.visibilityState === 'visible') watch();
  };
  document.addEventListener('visibilitychange', onVisibility);
  window.addEventListener('resize', watch);
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    window.removeEventListener('resize', watch);
    added.disconnect();
    sizes.disconnect();
    stop();
  };
}
