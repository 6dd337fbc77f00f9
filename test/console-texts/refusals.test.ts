/** What the page says of a refusal: in its language as far as it knows the code, else as the API does. */
import { refusals } from '../../src/console/texts/refusals-pt-br.js';
import { ERRORS, FIELD_ERRORS } from '../../src/http/error-codes.js';

const MESSAGES: Readonly<Record<string, readonly (string | number)[]>> = { ...ERRORS, ...FIELD_ERRORS };

it.each(Object.entries(refusals))('of %s names only parameters that the API gives', (code, text) => {
  for (const [parameter] of text.matchAll(/\{\w+\}/g)) expect(MESSAGES[code]?.[0]).toContain(parameter);
});
