/** The texts of the chosen language: a file each, so that nobody loads two. */
import { computed, effect, signal } from '@preact/signals';
import { type Language, language } from '../state/preferences.js';
import type { Texts } from './en.js';

const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => (await import('./en.js')).en,
  'pt-BR': async () => (await import('./pt-br.js')).ptBr,
};

/** Null: none is loaded yet, and nothing may read texts. */
export const loadedTexts = signal<Texts | null>(null);

export const texts = computed<Texts>(() => {
  if (!loadedTexts.value) throw new Error('texts are read before they are loaded');
  return loadedTexts.value;
});

effect(() => {
  void show(language.value);
});

/** A language that cannot be loaded leaves the one before. */
async function show(chosen: Language): Promise<void> {
  const loaded = await LOADERS[chosen]().catch(() => null);
  if (!loaded || language.peek() !== chosen) return;
  loadedTexts.value = loaded;
  document.documentElement.lang = chosen;
}
