import './jitless';
import { render } from 'preact';
import { Inbox } from './view/inbox';

const root = document.getElementById('app');
if (root === null) throw new Error('The page has no element "app"');
render(<Inbox />, root);
