/** The API's refusals in the language of the page: nobody is refused before a screen is there. */
import { type RefusalTexts, refusalIn } from '../format/refusals.js';
import { areaTexts } from './area.js';

const refusals = await areaTexts<RefusalTexts>({
  en: async () => (await import('./refusals-en.js')).refusals,
  'pt-BR': async () => (await import('./refusals-pt-br.js')).refusals,
});

export const inWordsOfThePage = (sentence: string) => refusalIn(refusals.value, sentence);
