import fc from 'fast-check';
import { binaryHeaders } from '../../../src/http/payment-events/event-values.js';

/** What an attribute becomes. */
function attribute(value: string): string | undefined {
  const [header] = binaryHeaders({ rawHeaders: ['ce-id', value], headers: {} });
  return header?.[1].toString('latin1');
}

it.each([
  ['plain', 'plain'],
  ['"quoted"', 'quoted'],
  ['"a \\"b\\" \\\\c"', 'a "b" \\c'],
  ['a"b"c "d"', 'abc d'],
  ['"no end', '"no end'],
  ['"no end\\', '"no end\\'],
  ['"no \\"end\\"', '"no \\"end\\"'],
  ['"one" "no end', 'one "no end'],
  ['50%25 %C3%A9', '50% Ã©'],
])('%j is %j', (value, expected) => {
  expect(attribute(value)).toBe(expected);
});

it('reads every text as a search for quotes from left to right does', () => {
  const searched = (value: string) =>
    value.replace(/"((?:[^"\\]|\\.)*)"/g, (_, quoted: string) => quoted.replace(/\\(.)/g, '$1'));
  const text = fc.string({ unit: fc.constantFrom('"', '\\', 'a', ' '), maxLength: 12 });
  fc.assert(fc.property(text, (value) => attribute(value) === searched(value)));
});

it('quotes without an end cost linear time: a search from each of them took seconds', () => {
  const value = '"\\'.repeat(200_000);
  const begun = performance.now();
  expect(attribute(value)).toBe(value);
  expect(performance.now() - begun).toBeLessThan(1_000);
});
