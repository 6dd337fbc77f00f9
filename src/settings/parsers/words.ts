/** Parsers of text, choices, whole numbers, the broker's names, and keys. */
import { MASTER_KEY_BYTES } from '../../secrets/master-keys.js';
import { becoming, listOf, matching, type Parser } from './parser.js';

export const text: Parser<string> = { expected: 'text', parse: (given) => given };
/** RFC 6749 3.3. */
export const scopeToken = matching('[\\x21\\x23-\\x5b\\x5d-\\x7e]+', 'a scope without spaces, quotes and backslashes');
export const path: Parser<string> = { ...text, expected: 'a path' };

export function oneOf<const T extends string>(words: readonly T[]): Parser<T> {
  return { expected: `one of ${words.join(', ')}`, parse: (given) => words.find((word) => word === given) };
}

export const flag = becoming(matching('true|false', 'true or false'), (given) => given === 'true');

export const whole = becoming(matching('[1-9][0-9]{0,6}', 'a whole number from 1 to 9999999'), Number);
export const wholeOrOff = becoming(matching('0|[1-9][0-9]{0,6}', 'a whole number from 0 (off) to 9999999'), Number);
export const wholeTo99 = becoming(matching('[1-9][0-9]?', 'a whole number from 1 to 99'), Number);

const NAME = '[A-Za-z0-9._-]{1,200}';
export const group = matching(NAME, 'a group name of A-Z a-z 0-9 . _ -');
/** The default group begins with it, and is as long as another at most. */
export const prefix = matching('[A-Za-z0-9._-]{0,184}', 'a prefix of A-Z a-z 0-9 . _ -');
export const topics = listOf(matching(NAME, 'a topic name'), 'topic names of A-Z a-z 0-9 . _ - with commas between');

export const key = becoming(matching('[A-Za-z0-9+/]{43}=', `${MASTER_KEY_BYTES} bytes in base64`), (base64) =>
  Buffer.from(base64, 'base64'),
);
