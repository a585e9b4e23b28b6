import { useEffect } from 'preact/hooks';

/** Single keys, by `KeyboardEvent.key`. Not while a person types or the help is open, and never with a modifier. */
export type Shortcuts = Readonly<Record<string, () => void>>;

const STORED = 'countersign.shortcuts';

/** A person who dictates or uses a switch can turn single keys off (WCAG 2.2, 2.1.4). */
export function shortcutsEnabled(): boolean {
  return localStorage.getItem(STORED) !== 'off';
}

export function enableShortcuts(enabled: boolean): void {
  localStorage.setItem(STORED, enabled ? 'on' : 'off');
}

export function useShortcuts(shortcuts: Shortcuts): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const typing = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (typing && event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
      // Enter on a button or link presses it.
      const onControl =
        event.key === 'Enter' && event.target instanceof HTMLElement && event.target.matches('a, button, summary');
      const inDialog = document.querySelector('dialog[open]') !== null;
      if (typing || onControl || inDialog || !shortcutsEnabled()) return;
      const action = Object.hasOwn(shortcuts, event.key) ? shortcuts[event.key] : undefined;
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  });
}
