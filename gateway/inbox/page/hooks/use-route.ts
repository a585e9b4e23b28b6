import { useEffect, useState } from 'preact/hooks';
import { hashOf, routeOf, type Route } from '../model/routes';

/** The route of the address. The seed of an enrolment link is removed from the address and its history at once. */
export function useRoute(): readonly [Route, (route: Exclude<Route, { view: 'enroll' }>) => void] {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const onChange = (): void => setRoute(readRoute());
    window.addEventListener('hashchange', onChange);
    return () => window.removeEventListener('hashchange', onChange);
  }, []);
  return [
    route,
    (to) => {
      location.hash = hashOf(to);
      setRoute(to);
    },
  ];
}

function readRoute(): Route {
  const route = routeOf(location.hash);
  if (route.view === 'enroll') history.replaceState(null, '', location.pathname);
  return route;
}
