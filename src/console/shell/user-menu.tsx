import type { Session } from '../api/shapes.js';
import { clock } from '../format/times.js';
import { Icon } from '../icons/icon.js';
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
        <span class="mark accent" aria-hidden="true">
          {(session.user ?? '#').slice(0, 1).toUpperCase()}
        </span>
        <span class="user-name">
          <b class="cut">{name}</b>
          <small>{until}</small>
        </span>
        <Icon name="open" size={14} />
      </button>
      <div id="user-menu" popover="auto" class="raised menu">
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
        <button type="button" class="button" onClick={signOut}>
          <Icon name="leave" size={14} />
          {t.signOut}
        </button>
      </div>
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
