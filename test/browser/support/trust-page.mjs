// A page whose title says what it knows of the trusted keys of the gateway. `reconnect()`: as after the events stopped and came back.
import { h, render } from 'preact';
import { useState } from 'preact/hooks';
import { useTrust } from '../../../gateway/inbox/page/hooks/use-trust.ts';

function Page() {
  const [subscribe] = useState(() => (listener) => {
    window.reconnect = () => listener(null);
    return () => {};
  });
  const trust = useTrust(true, subscribe);
  const known = trust !== null && typeof trust !== 'string';
  document.title = known ? `${trust.keys.committers.join()} ${trust.before === null ? 'as before' : 'changed'}` : '';
  return h('p', null, 'A page');
}

render(h(Page), document.body);
