/** JSON as it is shown. Pure. */
/// <reference path="../bundled.d.ts" />

/** The indentation grows with the square of the depth: 256 KiB of brackets would become hundreds of megabytes. */
const MAX_DEPTH = 64;

/**
 * Numbers keep their digits: parsed, amounts and ids of many are rounded. Returns other text, and what is nested more than 64
 * levels deep, unchanged.
 */
export function indentJson(text: string): string {
  // A browser without sources of numbers throws here.
  const keepDigits = (_: string, value: unknown, context: { source: string }) =>
    typeof value === 'number' ? JSON.rawJSON(context.source) : value;
  if (getDepth(text) > MAX_DEPTH) return text;
  try {
    return JSON.stringify(JSON.parse(text, keepDigits), null, 2);
  } catch {
    return text;
  }
}

/** How deep the brackets outside of strings are nested. */
function getDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isInString && character === '\\') at += 1;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
