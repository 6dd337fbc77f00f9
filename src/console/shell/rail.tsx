import { useLocation } from 'preact-iso/router';
import type { Session } from '../api/shapes.js';
import { Icon, type IconName } from '../icons/icon.js';
import { ActionButton } from '../parts/action.js';
import { Select } from '../parts/inputs.js';
import { Untrusted } from '../parts/text.js';
import { addressOf } from '../state/addresses.js';
import { isNarrow } from '../state/narrow.js';
import { chooseLanguage, LANGUAGES, type Language, language } from '../state/preferences.js';
import { signOut } from '../state/session.js';
import { texts } from '../texts/texts.js';

const SCREENS = [
  ['overview', '', 'overview'],
  ['webhooks', '/webhooks', 'webhook'],
  ['payments', '/payments', 'payments'],
  ['history', '/history', 'history'],
  ['security', '/security', 'security'],
] as const satisfies readonly (readonly [string, string, IconName])[];

/** At the left; on a phone at the bottom. A delivery belongs to the payments. */
export function Rail({ session }: { session: Session }) {
  const { path } = useLocation();
  const t = texts.value;
  const account = t.account(session.account);
  return (
    <aside class="rail">
      <div class="brand">
        <span class="mark accent">
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

/** On a phone, where the rail shows neither account nor user. */
export function SignedInAs({ session }: { session: Session }) {
  if (!isNarrow.value) return null;
  return (
    <p class="signed-in-as small muted cut">
      {texts.value.account(session.account)} · <Untrusted text={userName(session)} />
    </p>
  );
}

export const userName = ({ user }: Pick<Session, 'user'>) => user ?? texts.value.security.sessions.unnamed;

function isAt(path: string, to: string): boolean {
  const address = addressOf(to);
  const isOfPayments = to === '/payments' && path.startsWith(addressOf('/deliveries/'));
  return path === address || isOfPayments || (to !== '' && path.startsWith(`${address}/`));
}

function UserMenu({ session }: { session: Session }) {
  const t = texts.value.menu;
  return (
    <>
      <button type="button" class="user" popovertarget="user-menu">
        <span class="mark accent" aria-hidden="true">
          {Array.from(session.user ?? '#')[0]?.toUpperCase()}
        </span>
        <span class="user-name">
          <b class="cut">
            <Untrusted text={userName(session)} />
          </b>
        </span>
      </button>
      <div id="user-menu" popover="auto" class="raised menu">
        <div class="stack">
          <Select
            label={t.language}
            chosen={language.value}
            options={Object.entries(LANGUAGES) as [Language, string][]}
            onChoose={chooseLanguage}
          />
          <ActionButton call={signOut} done={null} whyFailed={() => t.signOutFailed}>
            {t.signOut}
          </ActionButton>
        </div>
      </div>
    </>
  );
}
