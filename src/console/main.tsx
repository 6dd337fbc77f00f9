/** The console's entry: signs in by the link that opened the page, or by the session that is there. */
import { render } from 'preact';
import { App } from './app.js';
import { openSession } from './state/session.js';
import './styles/console.css';

const root = document.getElementById('console');
if (!root) throw new Error('the page has no place for the console');
render(<App />, root);
openSession();
