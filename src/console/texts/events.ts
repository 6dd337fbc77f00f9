/** The texts of the screen Events. */
import { areaTexts } from './area.js';
import type { EventTexts } from './events-en.js';

export const eventTexts = await areaTexts<EventTexts>({
  en: async () => (await import('./events-en.js')).en,
  'pt-BR': async () => (await import('./events-pt-br.js')).ptBr,
});
