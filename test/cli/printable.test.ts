import { expect, test } from '@jest/globals';
import { printable } from '../../src/cli/process-output.js';

test.each([
  ['a line end', 'a\nb', 'a\\u000ab'],
  ['an escape sequence', '\u001b[2J', '\\u001b[2J'],
  ['what turns the direction of text', 'https://a/\u202egpj.exe', 'https://a/\\u202egpj.exe'],
])('%s is shown and does nothing', (_, line, shown) => {
  expect(printable(line)).toBe(shown);
});

test('letters of every script stay as they are', () => {
  expect(printable('שלום 汉字 😀')).toBe('שלום 汉字 😀');
});
