/** JSON for reading: indented token by token, for parsing it would round amounts and ids of many digits. */
import { Untrusted } from './text.js';

export interface Token {
  readonly kind: 'key' | 'text' | 'number' | 'word' | 'mark';
  readonly text: string;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const MOST_TOKENS = 20_000;

/** Null: it is no JSON, or too long to be shown in colour. */
function prettyTokens(json: string): Token[] | null {
  if (!isJson(json)) return null;
  const tokens = json.match(TOKEN) ?? [];
  return tokens.length > MOST_TOKENS ? null : indented(tokens);
}

const OPENS = /^[{[]$/;
const CLOSES = /^[}\]]$/;

function indented(tokens: readonly string[]): Token[] {
  let depth = 0;
  return tokens.map((text, index): Token => {
    const next = tokens[index + 1] ?? '';
    const isEmpty =
      (OPENS.test(text) && CLOSES.test(next)) || (CLOSES.test(text) && OPENS.test(tokens[index - 1] ?? ''));
    if (OPENS.test(text)) depth += 1;
    if (CLOSES.test(text)) depth -= 1;
    return isEmpty ? mark(text) : tokenOf(text, next, depth);
  });
}

function tokenOf(text: string, next: string, depth: number): Token {
  if (OPENS.test(text) || text === ',') return mark(text + line(depth));
  if (CLOSES.test(text)) return mark(line(depth) + text);
  return text === ':' ? mark(': ') : { kind: kindOf(text, next), text };
}

function kindOf(text: string, next: string): Token['kind'] {
  if (text.startsWith('"')) return next === ':' ? 'key' : 'text';
  return /^-?\d/.test(text) ? 'number' : 'word';
}

const mark = (text: string): Token => ({ kind: 'mark', text });
const line = (depth: number) => `\n${'  '.repeat(depth)}`;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** In colour, unless it is no JSON or is asked for raw. */
export function JsonText({ text, isRaw = false }: { text: string; isRaw?: boolean }) {
  const tokens = isRaw ? null : prettyTokens(text);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre class="code" tabIndex={0}>
      {tokens ? (
        tokens.map(({ kind, text }, index) =>
          kind === 'mark' ? text : <Untrusted key={index} kind={kind} text={text} />,
        )
      ) : (
        <Untrusted text={text} />
      )}
    </pre>
  );
}
