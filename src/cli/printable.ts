/** A line is one line, moves no cursor, and reads in its own order: parts of it may be strangers', like a payment's id. */
export function printable(line: string): string {
  return line.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
