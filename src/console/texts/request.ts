/** The texts of what was sent beside a payload. */
import { areaTexts } from './area.js';
import type { RequestTexts } from './request-en.js';

export const requestTexts = await areaTexts<RequestTexts>({
  en: async () => (await import('./request-en.js')).en,
  'pt-BR': async () => (await import('./request-pt-br.js')).ptBr,
});
