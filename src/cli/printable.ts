/** A line is one line, and moves no cursor: parts of it may be strangers', like a payment's id. */
export function printable(line: string): string {
  return line.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
