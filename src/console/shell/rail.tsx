import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Session } from '../api/shapes.js';
import { Icon } from '../icons/icon.js';
import type { IconName } from '../icons/icons.js';
import { addressOf } from '../state/addresses.js';
import { texts } from '../texts/texts.js';
import { UserMenu } from './user-menu.js';

const SCREENS = [
  ['overview', '', 'overview'],
  ['webhooks', '/webhooks', 'webhook'],
  ['deliveries', '/deliveries', 'deliveries'],
  ['events', '/events', 'events'],
  ['history', '/history', 'history'],
  ['security', '/security', 'security'],
] as const satisfies readonly (readonly [string, string, IconName])[];

/** At the left; on a phone at the bottom. */
export function Rail({ session }: { session: Session }) {
  const { path } = useLocation();
  const t = texts.value;
  const account = t.account(session.account);
  useEffect(() => {
    document.title = `${account} · ${t.title}`;
  }, [account]);
  return (
    <aside class="rail">
      <div class="brand">
        <span class="mark">
          <Icon name="webhook" size={18} />
        </span>
        <span>
          <b>{t.title}</b>
          <small>{account}</small>
        </span>
      </div>
      <nav aria-label={t.screens.label}>
        {SCREENS.map(([name, to, icon]) => (
          <a key={name} href={addressOf(to)} aria-current={isAt(path, to) ? 'page' : undefined}>
            <Icon name={icon} size={18} />
            {t.screens[name]}
          </a>
        ))}
      </nav>
      <UserMenu session={session} />
    </aside>
  );
}

function isAt(path: string, to: string): boolean {
  const address = addressOf(to);
  return path === address || (to !== '' && path.startsWith(`${address}/`));
}
