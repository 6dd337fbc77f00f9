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

const spoken = navigator.languages.find((tag) => /^(en|pt)\b/i.test(tag)) ?? 'en';

export const language = signal<Language>(/^pt/i.test(kept('language') ?? spoken) ? 'pt-BR' : 'en');

/** With the reader's region, for dates and numbers. */
export const locale = computed(
  () => navigator.languages.find((tag) => tag.slice(0, 2) === language.value.slice(0, 2)) ?? language.value,
);

export function chooseLanguage(chosen: Language): void {
  language.value = chosen;
  keep('language', chosen);
}
