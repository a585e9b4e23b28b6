import { useEffect, useRef, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { enableShortcuts, shortcutsEnabled } from '../hooks/use-shortcuts';

const KEYS: readonly (readonly [string, string])[] = [
  ['j, k', 'Next and previous review of the list'],
  ['o, Enter', 'Open the review'],
  ['n, p', 'Next and previous card of a review'],
  ['c, r', 'Confirm or reject the card that has the focus'],
  ['s', 'Go to the button that signs'],
  ['u', 'Back to the list'],
  ['/', 'Search'],
  ['?', 'This help'],
];

/** The keyboard shortcuts. */
export function Help({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [enabled, setEnabled] = useState(shortcutsEnabled);
  useEffect(() => {
    if (open && dialog.current?.open === false) dialog.current.showModal();
    if (!open && dialog.current?.open === true) dialog.current.close();
  }, [open]);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
      <h2 id="help-title">Keyboard</h2>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p>
        <label class="switch">
          <input
            type="checkbox"
            checked={enabled}
            onChange={({ currentTarget }) => {
              enableShortcuts(currentTarget.checked);
              setEnabled(currentTarget.checked);
            }}
          />{' '}
          Single-key shortcuts
        </label>
      </p>
      <button type="button" class="primary" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}
