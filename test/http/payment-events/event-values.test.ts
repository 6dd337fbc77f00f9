import fc from 'fast-check';
import { elementsOf, valuesOfLines } from '../../../src/http/payment-events/event-values.js';
import { inFull } from '../../runner/thorough.js';
import { oddLiteral } from '../../support/generators/odd-json.js';

const texts = (values: Iterable<Buffer>) => [...values].map(String);

describe('the elements of an array', () => {
  it.each<[string, string[]]>([
    ['[]', []],
    [' [\t] ', []],
    ['[1]', ['1']],
    ['[ {"a" : [1, 2]} , "]" ]', ['{"a" : [1, 2]}', '"]"']],
    ['["\\\\","\\"",""]', ['"\\\\"', '"\\""', '""']],
    ['[[],{},[[]]]', ['[]', '{}', '[[]]']],
  ])('of %s are cut out', (array, elements) => {
    expect(texts(elementsOf(Buffer.from(array)))).toEqual(elements);
  });

  it('are those of JSON.parse, byte for byte within the array', () => {
    const spaces = fc.constantFrom('', ' ', '\n\t', ' \r ');
    const elements = fc.array(fc.record({ element: fc.oneof(oddLiteral, fc.json()), before: spaces, after: spaces }));
    const property = fc.property(elements, spaces, (all, around) => {
      const array = `${around}[${all.map(({ element, before, after }) => before + element + after).join()}${around}]`;
      const cut = texts(elementsOf(Buffer.from(array)));
      expect(cut).toEqual(all.map(({ element }) => element));
    });
    fc.assert(property, { numRuns: inFull(5_000, 1_000, 20_000) });
  });

  it('are JSON, each of them, only if the whole is a JSON array', () => {
    const text = fc
      .array(fc.constantFrom(...'[]{},":\\ 1'), { maxLength: 12 })
      .map((characters) => characters.join(''));
    const property = fc.property(text, (body) => {
      const array = `[${body}]`;
      expect(texts(elementsOf(Buffer.from(array))).every(isJson)).toBe(isJson(array));
    });
    fc.assert(property, { numRuns: inFull(20_000, 5_000, 100_000) });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it('the lines of a body are what is between line ends, but for blank ones', () => {
  expect(texts(valuesOfLines(Buffer.from('\n\r\na\r\n b \n \t\r\n\nc')))).toEqual(['a', ' b ', 'c']);
  expect(texts(valuesOfLines(Buffer.from('a\n')))).toEqual(['a']);
  expect(texts(valuesOfLines(Buffer.alloc(0)))).toEqual([]);
});

it('a byte order mark before the first line or the array is not part of an event; elsewhere it is', () => {
  expect(texts(valuesOfLines(Buffer.from('\ufeff\r\n1\n')))).toEqual(['1']);
  expect(texts(valuesOfLines(Buffer.from('\ufeff1\n\ufeff2')))).toEqual(['1', '\ufeff2']);
  expect(texts(elementsOf(Buffer.from('\ufeff [1,2]')))).toEqual(['1', '2']);
});
