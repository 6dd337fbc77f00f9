/**
 * Makes a text printable as one line that moves no cursor and keeps its order: parts may be untrusted, like a payment's
 * id.
 */
export function printable(line: string): string {
  return line.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
