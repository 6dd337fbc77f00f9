import { isolated, piecesOf, revealed } from '../../src/console/format/untrusted.js';

it.each([
  ['right-to-left override', '\u202e', 'U+202E'],
  ['left-to-right isolate', '\u2066', 'U+2066'],
  ['zero-width space', '\u200b', 'U+200B'],
  ['zero-width joiner', '\u200d', 'U+200D'],
  ['byte order mark', '\ufeff', 'U+FEFF'],
  ['soft hyphen', '\u00ad', 'U+00AD'],
  ['Hangul filler', '\u3164', 'U+3164'],
  ['bell', '\u0007', 'U+0007'],
  ['line separator', '\u2028', 'U+2028'],
  ['tag', '\u{e0041}', 'U+E0041'],
])('names the %s in place of it', (_, character, name) => {
  expect(piecesOf(`pay${character}1`)).toEqual([
    { text: 'pay', isMark: false },
    { text: name, isMark: true },
    { text: '1', isMark: false },
  ]);
  expect(revealed(`pay${character}1`)).toBe(`pay[${name}]1`);
});

it.each(['pay_1', 'https://example.com/a?b=c', 'ação 支払い עברית', '❤️', 'two\n\tlines\r\n'])(
  'leaves %s as it is',
  (text) => {
    expect(piecesOf(text)).toEqual([{ text, isMark: false }]);
    expect(revealed(text)).toBe(text);
  },
);

it('isolates a value that holds ends of isolates', () => {
  expect(isolated('a\u2069b')).toBe('\u2068a[U+2069]b\u2069');
  expect(isolated('client/maria')).toBe('client/maria');
});
