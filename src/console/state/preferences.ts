/** What the browser keeps for the page. An embedded page may have no storage: then it keeps nothing. */
import { computed, effect, signal } from '@preact/signals';

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

/** Language and theme: as the browser says, or as its user chose here. */

export const LANGUAGES = { en: 'English', 'pt-BR': 'Português (Brasil)' } as const;
export type Language = keyof typeof LANGUAGES;
export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const language = signal<Language>(oneOf(Object.keys(LANGUAGES) as Language[], kept('language')) ?? spoken());
export const theme = signal<Theme>(oneOf(THEMES, kept('theme')) ?? 'auto');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

/** With the reader's region, for dates and numbers. */
export const locale = computed(
  () => navigator.languages.find((tag) => tag.slice(0, 2) === language.value.slice(0, 2)) ?? language.value,
);

export function chooseLanguage(chosen: Language): void {
  language.value = chosen;
  keep('language', chosen);
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  keep('theme', chosen);
}

function spoken(): Language {
  return navigator.languages
    .find((tag) => /^(en|pt)\b/i.test(tag))
    ?.toLowerCase()
    .startsWith('pt')
    ? 'pt-BR'
    : 'en';
}

function oneOf<T extends string>(words: readonly T[], given: string | null): T | undefined {
  return words.find((word) => word === given);
}
