/** The texts of the chosen language: a chunk each, so that nobody loads two. */
import { computed, effect, signal } from '@preact/signals';
import { type Language, language } from '../state/preferences.js';
import type { Texts } from './en.js';

const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => (await import('./en.js')).en,
  'pt-BR': async () => (await import('./pt-br.js')).ptBr,
};

const loaded = signal<{ readonly language: Language; readonly texts: Texts } | null>(null);

/** The language that texts has; null: none is loaded yet, and nothing may read texts. */
export const shownLanguage = computed(() => loaded.value?.language ?? null);

export const texts = computed<Texts>(() => {
  if (!loaded.value) throw new Error('texts are read before they are loaded');
  return loaded.value.texts;
});

effect(() => {
  void show(language.value);
});

/** A language that cannot be loaded leaves the one before. */
async function show(chosen: Language): Promise<void> {
  const texts = await LOADERS[chosen]().catch(() => null);
  if (!texts || language.peek() !== chosen) return;
  loaded.value = { language: chosen, texts };
  document.documentElement.lang = chosen;
}
