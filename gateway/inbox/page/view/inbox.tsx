import { useCallback, useEffect, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { InboxSession } from '../../api';
import { LiveContext, useEvents } from '../hooks/use-live';
import { useRoute } from '../hooks/use-route';
import { useSession } from '../hooks/use-session';
import { useShortcuts } from '../hooks/use-shortcuts';
import { useTrust, type Trust } from '../hooks/use-trust';
import { useTurnCount } from '../hooks/use-turn-count';
import type { Route } from '../model/routes';
import { Alert } from './alert';
import { ServiceBanners, TrustBanner } from './banners';
import { EnrollPage } from './enroll-page';
import { Help } from './help';
import { ListPage } from './list-page';
import { LoginPage } from './login-page';
import { NumbersPage } from './numbers-page';
import { ReviewPage } from './review-page';
import { countText, TopBar } from './top-bar';

/** The whole page. */
export function Inbox(): JSX.Element {
  const [route, go] = useRoute();
  const { session, why, start, end } = useSession();
  const loggedIn = session !== null && session !== 'reading';
  const live = useEvents(loggedIn);
  const trust = useTrust(loggedIn);
  const [help, setHelp] = useState(false);
  const [turnCount, setTurnCount] = useState(0);
  const showCount = useCallback((count: number) => setTurnCount(count), []);
  useTurnCount(loggedIn && route.view !== 'list', live.subscribe, showCount);
  useTitle(loggedIn ? turnCount : 0);
  useFocus(route, loggedIn);
  useShortcuts({
    '?': () => setHelp(true),
    u: () => go({ view: 'list', tab: 'turn' }),
    s: () => document.querySelector<HTMLElement>('.answer-bar .primary')?.focus(),
  });
  return (
    <LiveContext.Provider value={live}>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <TopBar
        route={route}
        session={loggedIn ? session : null}
        turnCount={turnCount}
        onHelp={() => setHelp(true)}
        onLogout={end}
      />
      <main id="main" tabIndex={-1}>
        {loggedIn && <ServiceBanners />}
        {route.view === 'enroll' ? (
          <EnrollPage fragment={route.fragment} onDone={() => go({ view: 'list', tab: 'turn' })} />
        ) : session === 'reading' ? (
          <p role="status">Reading your session…</p>
        ) : session === null ? (
          <LoginPage onSession={start} why={why} />
        ) : (
          <Verifying trust={trust} route={route} session={session} onCount={showCount} />
        )}
      </main>
      {trust !== null && typeof trust !== 'string' && (
        <footer class="footer">
          Verified in this browser against keys with the fingerprint <code>{trust.fingerprint}</code>
        </footer>
      )}
      <Help open={help} onClose={() => setHelp(false)} />
    </LiveContext.Provider>
  );
}

interface ViewProps {
  readonly trust: Trust | string | null;
  readonly route: Exclude<Route, { view: 'enroll' }>;
  readonly session: InboxSession;
  readonly onCount: (count: number) => void;
}

function Verifying({ trust, route, session, onCount }: ViewProps): JSX.Element {
  if (trust === null) return <p role="status">Reading the trusted keys…</p>;
  if (typeof trust === 'string')
    return <Alert look="banner bad" text={`The trusted keys could not be read, so no review can be shown: ${trust}`} />;
  return (
    <>
      <TrustBanner trust={trust} />
      <View trust={trust} route={route} session={session} onCount={onCount} />
    </>
  );
}

function View({ trust, route, session, onCount }: ViewProps & { readonly trust: Trust }): JSX.Element {
  switch (route.view) {
    case 'list':
      return <ListPage key={route.tab} tab={route.tab} onCount={onCount} />;
    case 'review':
      return (
        <ReviewPage
          key={route.changeId}
          changeId={route.changeId}
          session={session}
          trust={trust.keys}
          trusted={trust.before === null}
        />
      );
    case 'numbers':
      return <NumbersPage />;
    default:
      return route satisfies never;
  }
}

/** Not by the address: its fragment is the route. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function useTitle(turnCount: number): void {
  useEffect(() => {
    document.title = turnCount === 0 ? 'Countersign' : `(${countText(turnCount)}) Countersign`;
  }, [turnCount]);
}

/** After a change of the view the focus is on its heading, for a screen reader and for the keyboard. */
function useFocus(route: Route, loggedIn: boolean): void {
  const key = JSON.stringify(route);
  useEffect(() => {
    const heading = document.querySelector<HTMLElement>('main h1');
    heading?.focus({ preventScroll: true });
    window.scrollTo({ top: 0, behavior: 'instant' });
  }, [key, loggedIn]);
}
