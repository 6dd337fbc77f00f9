/** Text that strangers write may hold characters that nobody sees, and that hide or reorder what stands around them. */

/** Controls, except tabs and line ends; what the default is to show as nothing, without the selectors of emoji styles. */
const INVISIBLE = /(?!\p{Variation_Selector}|[\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

export interface Piece {
  readonly text: string;
  /** It stands for an invisible character. */
  readonly isMark: boolean;
}

export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: character, index } of text.matchAll(INVISIBLE)) {
    if (index > end) pieces.push({ text: text.slice(end, index), isMark: false });
    pieces.push({ text: nameOf(character), isMark: true });
    end = index + character.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isMark: false });
  return pieces;
}

/** For attributes and options, which hold no elements. */
export const revealed = (text: string) => text.replace(INVISIBLE, (character) => `[${nameOf(character)}]`);

/**
 * For the middle of a sentence: between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE (Unicode UAX 9). ASCII needs none,
 * and is found by a search in the page without them.
 */
export const isolated = (text: string) => (/^[ -~]*$/.test(text) ? text : `\u2068${revealed(text)}\u2069`);

const nameOf = (character: string) => `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
