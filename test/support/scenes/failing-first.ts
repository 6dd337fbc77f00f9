import type { ReceivedRequest, Reply } from '../servers/receiver.js';

/** Answers 503 to the first request of each path and body that match the pattern, and 200 to all others. */
export function failingFirst(pattern: RegExp): (request: ReceivedRequest) => Reply {
  const seen = new Set<string>();
  return ({ path, body }) => {
    const pair = `${path} ${body}`;
    const isFirst = !seen.has(pair);
    seen.add(pair);
    return { status: isFirst && pattern.test(pair) ? 503 : 200 };
  };
}
