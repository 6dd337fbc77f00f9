/** What the browser keeps for the page. An embedded page may have no storage: then it keeps nothing. */
import { computed, signal } from '@preact/signals';

type Place = 'localStorage' | 'sessionStorage';

export function kept(name: string, place: Place = 'localStorage'): string | null {
  try {
    return window[place].getItem(`console.${name}`);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string, place: Place = 'localStorage'): void {
  try {
    window[place].setItem(`console.${name}`, value);
  } catch {
    // as above
  }
}

/** As the browser says, or as its user chose here. */
export const LANGUAGES = { en: 'English', 'pt-BR': 'Português (Brasil)' } as const;
export type Language = keyof typeof LANGUAGES;

export const language = signal<Language>(chosenBefore() ?? spoken());

/** With the reader's region, for dates and numbers. */
export const locale = computed(
  () => navigator.languages.find((tag) => tag.slice(0, 2) === language.value.slice(0, 2)) ?? language.value,
);

export function chooseLanguage(chosen: Language): void {
  language.value = chosen;
  keep('language', chosen);
}

function spoken(): Language {
  return navigator.languages
    .find((tag) => /^(en|pt)\b/i.test(tag))
    ?.toLowerCase()
    .startsWith('pt')
    ? 'pt-BR'
    : 'en';
}

function chosenBefore(): Language | undefined {
  return (Object.keys(LANGUAGES) as Language[]).find((one) => one === kept('language'));
}
