import type { JSX } from 'preact';
import type { InboxSession } from '../../api';
import { useLive } from '../hooks/use-live';
import { hashOf, YOUR_TURN, type Route } from '../model/routes';
import { SafeText } from './safe-text';
import { useEffect, useState } from 'preact/hooks';

interface Props {
  readonly route: Route;
  readonly session: InboxSession | null;
  readonly turnCount: number;
  readonly onHelp: () => void;
  readonly onLogout: () => void;
}

const MAX_COUNT = 1000;

/** `1000` means at least that many. */
export function countText(count: number): string {
  return count >= MAX_COUNT ? `${MAX_COUNT}+` : String(count);
}

/** Name, tabs, the state of the connection, and the person. */
export function TopBar({ route, session, turnCount, onHelp, onLogout }: Props): JSX.Element {
  const [theme, nextTheme] = useTheme();
  const tab = route.view === 'list' ? route.tab : route.view;
  const link = (name: string, hash: string, text: string): JSX.Element => (
    <li>
      <a href={hash} aria-current={tab === name ? 'page' : undefined}>
        {text}
      </a>
    </li>
  );
  return (
    <header class="top-bar" data-bar="top">
      <a class="brand" href={hashOf(YOUR_TURN)}>
        Countersign
      </a>
      {session !== null && (
        <nav aria-label="Inbox">
          <ul>
            {link('turn', '#/turn', turnCount === 0 ? 'Your turn' : `Your turn (${countText(turnCount)})`)}
            {link('waiting', '#/waiting', 'Waiting on others')}
            {link('all', '#/all', 'All')}
            {link('numbers', '#/numbers', 'Numbers')}
          </ul>
        </nav>
      )}
      <div class="top-side">
        {session !== null && <ConnectionState />}
        <button type="button" onClick={nextTheme} aria-label={`Colours: ${theme}. Change them`}>
          {theme === 'auto' ? '◐' : theme === 'light' ? '☀' : '☾'}
        </button>
        <button type="button" class="wide-only" onClick={onHelp} aria-label="Keyboard help">
          ?
        </button>
        {session !== null && (
          <>
            <span class="person">
              <SafeText text={session.person} />
            </span>
            <button type="button" onClick={onLogout}>
              Log out
            </button>
          </>
        )}
      </div>
    </header>
  );
}

const WORDS = { connecting: 'Connecting…', open: 'Live', lost: 'Disconnected' } as const;

function ConnectionState(): JSX.Element {
  const { connection } = useLive();
  return (
    <span class={`connection ${connection}`} role="status" aria-label={`Connection: ${WORDS[connection]}`}>
      {WORDS[connection]}
    </span>
  );
}

type Theme = 'auto' | 'light' | 'dark';

const STORED = 'countersign.theme';
const NEXT: Readonly<Record<Theme, Theme>> = { auto: 'light', light: 'dark', dark: 'auto' };

/** The colours: of the system, or one of the two. */
function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => {
    const stored = localStorage.getItem(STORED);
    return stored === 'light' || stored === 'dark' ? stored : 'auto';
  });
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(STORED, theme);
  }, [theme]);
  return [theme, () => setTheme(NEXT[theme])];
}
