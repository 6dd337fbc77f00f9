/** The texts of the Webhooks screens. */
import { areaTexts } from './area.js';
import type { WebhookTexts } from './webhooks-en.js';

export const webhookTexts = await areaTexts<WebhookTexts>({
  en: async () => (await import('./webhooks-en.js')).en,
  'pt-BR': async () => (await import('./webhooks-pt-br.js')).ptBr,
});
