/** What the form of a webhook knows to be wrong without a call, by the names that the API gives its fields. Pure. */
import type { GivenHeader } from './header-fields.js';

type Problem = 'noUrl' | 'noHttps' | 'noName';

export function problemsIn(url: string, headers: readonly GivenHeader[]): Readonly<Record<string, Problem>> {
  const ofUrl = !url ? 'noUrl' : /^https:/i.test(url) ? null : 'noHttps';
  const unnamed = headers.flatMap(({ key }, index) => (key ? [] : [[`headers[${index}].key`, 'noName' as const]]));
  return { ...(ofUrl && { url: ofUrl }), ...Object.fromEntries(unnamed) };
}

/** As the service does: two spellings of a URL are one. */
export function isSameUrl(one: string, other: string): boolean {
  const href = hrefOf(one);
  return href !== null && href === hrefOf(other);
}

function hrefOf(text: string): string | null {
  try {
    return new URL(text).href;
  } catch {
    return null;
  }
}
