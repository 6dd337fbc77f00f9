/** Rules for a webhook's own headers (RFC 9110 5.1 and 5.5, narrowed). Checked as given, before any trimming. */
import { isBlockedHeaderName, MAX_HEADER_NAME_LENGTH, MAX_HEADER_VALUE_LENGTH } from './limits.js';

export interface GivenHeader {
  readonly key: string;
  readonly value: string;
}

export interface HeaderProblem {
  readonly index: number;
  readonly part: 'key' | 'value';
  readonly message: string;
}

export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Visible ASCII, with spaces and tabs inside; may be empty. */
export const HEADER_VALUE = /^([\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?)?$/;

export function headerProblems(headers: readonly GivenHeader[]): HeaderProblem[] {
  const seen = new Set<string>();
  return headers.flatMap(({ key, value }, index) => {
    const name = nameProblem(key, seen);
    const content = valueProblem(value);
    seen.add(key.toLowerCase());
    const problems: HeaderProblem[] = [];
    if (name) problems.push({ index, part: 'key', message: name });
    if (content) problems.push({ index, part: 'value', message: content });
    return problems;
  });
}

function nameProblem(name: string, seen: ReadonlySet<string>): string | null {
  if (!HEADER_NAME.test(name)) return "must be an HTTP header name (letters, digits and !#$%&'*+-.^_`|~)";
  if (name.length > MAX_HEADER_NAME_LENGTH) return `must have at most ${MAX_HEADER_NAME_LENGTH} characters`;
  if (isBlockedHeaderName(name)) return 'is a header that the service sets';
  if (seen.has(name.toLowerCase())) return 'is repeated (header names are case-insensitive)';
  return null;
}

function valueProblem(value: string): string | null {
  if (value.length > MAX_HEADER_VALUE_LENGTH) return `must have at most ${MAX_HEADER_VALUE_LENGTH} characters`;
  if (!HEADER_VALUE.test(value)) return 'must be visible ASCII characters, with spaces or tabs only between them';
  return null;
}
