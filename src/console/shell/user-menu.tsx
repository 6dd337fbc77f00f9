import { useState } from 'preact/hooks';
import type { Session } from '../api/shapes.js';
import { clock } from '../format/times.js';
import { revealed } from '../format/untrusted.js';
import { Icon } from '../icons/icon.js';
import { Untrusted } from '../parts/untrusted.js';
import {
  chooseLanguage,
  chooseTheme,
  LANGUAGES,
  type Language,
  language,
  THEMES,
  type Theme,
  theme,
} from '../state/preferences.js';
import { signOut } from '../state/session.js';
import { texts } from '../texts/texts.js';

export function UserMenu({ session }: { session: Session }) {
  const t = texts.value.menu;
  const name = session.user ?? t.nobody;
  const until = t.until(clock(new Date(session.expiresAt)));
  return (
    <>
      <button type="button" class="user" popovertarget="user-menu">
        <span class="avatar" aria-hidden="true">
          {Array.from(revealed(session.user ?? '#'))[0]?.toUpperCase()}
        </span>
        <span class="user-name">
          <b>
            <Untrusted text={name} />
          </b>
          <small>{until}</small>
        </span>
        <Icon name="open" size={14} />
      </button>
      <div id="user-menu" popover="auto" class="menu">
        <Choice<Theme>
          name={t.theme}
          chosen={theme.value}
          options={THEMES.map((one) => [one, t.themes[one]])}
          onChoose={chooseTheme}
        />
        <Choice<Language>
          name={t.language}
          chosen={language.value}
          options={Object.entries(LANGUAGES) as [Language, string][]}
          onChoose={chooseLanguage}
        />
        <p class="muted">{t.may(session.can.map((right) => t.rights[right]).join(', '))}</p>
        <SignOut />
      </div>
    </>
  );
}

function SignOut() {
  const [hasFailed, setFailed] = useState(false);
  const t = texts.value.menu;
  return (
    <>
      {hasFailed && (
        <p class="bad" role="alert">
          {t.signOutFailed}
        </p>
      )}
      <button type="button" class="button" onClick={async () => setFailed(!(await signOut()))}>
        <Icon name="leave" size={14} />
        {t.signOut}
      </button>
    </>
  );
}

interface Choosing<T extends string> {
  readonly name: string;
  readonly chosen: T;
  readonly options: readonly (readonly [T, string])[];
  readonly onChoose: (option: T) => void;
}

function Choice<T extends string>({ name, chosen, options, onChoose }: Choosing<T>) {
  return (
    <label class="field">
      <span>{name}</span>
      <select value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value as T)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
