/** The texts of the screen Security. */
import { areaTexts } from './area.js';
import type { SecurityTexts } from './security-en.js';

export const securityTexts = await areaTexts<SecurityTexts>({
  en: async () => (await import('./security-en.js')).en,
  'pt-BR': async () => (await import('./security-pt-br.js')).ptBr,
});
