/** The texts of dialogs that are loaded when they open. */
import { areaTexts } from './area.js';
import type { DialogTexts } from './dialogs-en.js';

export const dialogTexts = await areaTexts<DialogTexts>({
  en: async () => (await import('./dialogs-en.js')).en,
  'pt-BR': async () => (await import('./dialogs-pt-br.js')).ptBr,
});
