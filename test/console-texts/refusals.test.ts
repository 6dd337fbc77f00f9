/** The codes that the page has texts for are those of the service. */
import { refusals as english } from '../../src/console/texts/refusals-en.js';
import { refusals as portuguese } from '../../src/console/texts/refusals-pt-br.js';
import { ERRORS, FIELD_ERRORS } from '../../src/http/error-codes.js';

const MESSAGES = new Map(
  [...Object.values(ERRORS), FIELD_ERRORS].flatMap((codes) =>
    Object.entries(codes).map(([code, [message]]) => [code, message] as const),
  ),
);

/** As of a message's placeholders: each is its own name. */
function paramsOf(message: string) {
  return Object.fromEntries([...message.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, `<${name}>`]));
}

const rows = Object.entries(english).map(([code, text]) => [code, text, portuguese[code as keyof typeof portuguese]]);

it.each(rows as [string, ...(typeof portuguese)['too-long'][]][])(
  '%s is a code of the service, whose parameters suffice for its texts',
  (code, ...texts) => {
    const message = MESSAGES.get(code) ?? '';
    expect(message).not.toBe('');
    for (const text of texts) {
      const said = text(paramsOf(message));
      expect(said).not.toBe('');
      expect(said).not.toContain('undefined');
    }
  },
);

it('has the number of a problem', () => {
  expect(portuguese['port-refused']({ port: 80 })).toBe('A porta 80 não é permitida.');
});
