/** The API's refusals in the language of the page, by their codes: nobody is refused before a screen is there. */
import type { Problem } from '../api/client.js';
import { areaTexts } from './area.js';
import type { RefusalTexts } from './refusals-en.js';

const refusals = await areaTexts<RefusalTexts>({
  en: async () => (await import('./refusals-en.js')).refusals,
  'pt-BR': async () => (await import('./refusals-pt-br.js')).refusals,
});

/** @returns the API's own words for a code that the page does not know */
export function inWordsOfThePage({ code, params = {}, message }: Problem): string {
  const known: Partial<RefusalTexts> = refusals.value;
  return known[code as keyof RefusalTexts]?.(params) ?? message;
}
