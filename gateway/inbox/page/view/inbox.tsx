import { useCallback, useEffect, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { InboxSession } from '../../api';
import { LiveContext, useEvents, readOnChange, type Live } from '../hooks/use-live';
import { useSession } from '../hooks/use-session';
import { useShortcuts } from '../hooks/use-shortcuts';
import { useTrust, type Trust } from '../hooks/use-trust';
import type { ListFilters } from '../model/list-filters';
import { type Route, hashOf, routeOf, YOUR_TURN } from '../model/routes';
import { Alert } from './alert';
import { ServiceBanners, TrustBanner } from './banners';
import { EnrollPage } from './enroll-page';
import { Help } from './help';
import { ListPage } from './list-page';
import { LoginPage } from './login-page';
import { NumbersPage } from './numbers-page';
import { ReviewPage } from './review-page';
import { countText, TopBar } from './top-bar';
import { api, apiError } from '../api-client';

/** The whole page. */
export function Inbox(): JSX.Element {
  const [route, go, filter] = useRoute();
  const { session, why, start, end } = useSession();
  const loggedIn = session !== null && session !== 'reading';
  const live = useEvents(loggedIn);
  const trust = useTrust(loggedIn, live.subscribe);
  const [help, setHelp] = useState(false);
  const [turnCount, setTurnCount] = useState(0);
  const showCount = useCallback((count: number) => setTurnCount(count), []);
  useTurnCount(loggedIn && route.view !== 'list', live.subscribe, showCount);
  useTitle(loggedIn ? turnCount : 0);
  useFocus(route, loggedIn);
  useShortcuts({
    '?': () => setHelp(true),
    u: () => go(YOUR_TURN),
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
          <EnrollPage fragment={route.fragment} onDone={() => go(YOUR_TURN)} />
        ) : session === 'reading' ? (
          <p role="status">Reading your session…</p>
        ) : session === null ? (
          <LoginPage onSession={start} why={why} />
        ) : (
          <Verifying trust={trust} route={route} session={session} onFilters={filter} onCount={showCount} />
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
  readonly onFilters: (filters: ListFilters) => void;
  readonly onCount: (count: number) => void;
}

function Verifying({ trust, ...of }: ViewProps): JSX.Element {
  if (trust === null) return <p role="status">Reading the trusted keys…</p>;
  if (typeof trust === 'string')
    return <Alert look="banner bad" text={`The trusted keys could not be read, so no review can be shown: ${trust}`} />;
  return (
    <>
      <TrustBanner trust={trust} />
      <View trust={trust} {...of} />
    </>
  );
}

function View({ trust, route, session, onFilters, onCount }: ViewProps & { readonly trust: Trust }): JSX.Element {
  switch (route.view) {
    case 'list':
      return (
        <ListPage key={route.tab} tab={route.tab} filters={route.filters} onFilters={onFilters} onCount={onCount} />
      );
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
  const key = JSON.stringify({ ...route, filters: null });
  useEffect(() => {
    const heading = document.querySelector<HTMLElement>('main h1');
    heading?.focus({ preventScroll: true });
    window.scrollTo({ top: 0, behavior: 'instant' });
  }, [key, loggedIn]);
}

const SETTLE_MS = 1000;

/** The number of reviews of this person, while no list is shown that has it. `onCount` must not change. */
function useTurnCount(active: boolean, subscribe: Live['subscribe'], onCount: (count: number) => void): void {
  useEffect(() => {
    if (!active) return undefined;
    const read = async (): Promise<void> => {
      try {
        onCount((await api.reviews({ tab: 'turn' }, 'page')).turnCount);
      } catch (error) {
        apiError(error); // The connection shows its own state; the last number stays.
      }
    };
    void read();
    return readOnChange(subscribe, read, SETTLE_MS);
  }, [active, subscribe, onCount]);
}

const FILTERS_MS = 250;

/**
 * The route of the address, how to go to another one, and how to filter the list, which replaces the address when nothing was typed for a
 * moment. The seed of an enrolment link is removed from the address and its history at once.
 */
function useRoute(): readonly [
  Route,
  (route: Exclude<Route, { view: 'enroll' }>) => void,
  (filters: ListFilters) => void,
] {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const onChange = (): void => setRoute(readRoute());
    window.addEventListener('hashchange', onChange);
    return () => window.removeEventListener('hashchange', onChange);
  }, []);
  useEffect(() => {
    if (route.view !== 'list') return undefined;
    const timer = setTimeout(() => history.replaceState(null, '', hashOf(route)), FILTERS_MS);
    return () => clearTimeout(timer);
  }, [route]);
  return [
    route,
    (to) => {
      location.hash = hashOf(to);
      setRoute(to);
    },
    (filters) => setRoute((before) => (before.view === 'list' ? { ...before, filters } : before)),
  ];
}

function readRoute(): Route {
  const route = routeOf(location.hash);
  if (route.view === 'enroll') history.replaceState(null, '', location.pathname);
  return route;
}
