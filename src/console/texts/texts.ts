/** The texts of the chosen language. One is loaded, the other when it is chosen. */
import { effect, signal } from '@preact/signals';
import { type Language, language } from '../state/preferences.js';
import { en, type Texts } from './en.js';

const OTHERS = { 'pt-BR': async () => (await import('./pt-br.js')).ptBr };

export const texts = signal<Texts>(en);
/** The language that texts has. */
export const shownLanguage = signal<Language | null>(null);

effect(() => {
  const chosen = language.value;
  if (chosen === 'en') show(chosen, en);
  else
    OTHERS[chosen]().then(
      (loaded) => language.peek() === chosen && show(chosen, loaded),
      () => show('en', en),
    );
});

function show(chosen: Language, loaded: Texts): void {
  texts.value = loaded;
  shownLanguage.value = chosen;
  document.documentElement.lang = chosen;
}
