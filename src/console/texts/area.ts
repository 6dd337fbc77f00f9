/** Texts of one part of the page, in the chosen language: apart from the others, which every screen loads. */
import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { type Language, language } from '../state/preferences.js';

/** Awaited by the module that exports them, since what imports it reads texts as it renders. */
export async function areaTexts<T>(loaders: Readonly<Record<Language, () => Promise<T>>>): Promise<ReadonlySignal<T>> {
  const loaded = signal(await loaders[language.peek()]());
  effect(() => {
    void show(language.value);
  });
  return loaded;

  /** A language that cannot be loaded leaves the one before. */
  async function show(chosen: Language): Promise<void> {
    const texts = await loaders[chosen]().catch(() => null);
    if (texts && language.peek() === chosen) loaded.value = texts;
  }
}
