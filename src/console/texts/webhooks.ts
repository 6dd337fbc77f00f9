/** The texts of the Webhooks screens, in the chosen language: apart from the others, which every screen loads. */
import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { type Language, language } from '../state/preferences.js';
import type { WebhookTexts } from './webhooks-en.js';

const LOADERS: Readonly<Record<Language, () => Promise<WebhookTexts>>> = {
  en: async () => (await import('./webhooks-en.js')).en,
  'pt-BR': async () => (await import('./webhooks-pt-br.js')).ptBr,
};

// Before the screens run: they read texts as they render.
const loaded = signal(await LOADERS[language.peek()]());

export const webhookTexts: ReadonlySignal<WebhookTexts> = loaded;

effect(() => {
  void show(language.value);
});

/** A language that cannot be loaded leaves the one before. */
async function show(chosen: Language): Promise<void> {
  const texts = await LOADERS[chosen]().catch(() => null);
  if (texts && language.peek() === chosen) loaded.value = texts;
}
