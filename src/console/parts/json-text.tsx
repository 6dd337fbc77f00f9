/** JSON for reading: indented token by token, for parsing it would round amounts and ids of many digits. */
import { Untrusted } from './text.js';

const TOKEN = /"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g;
const MOST_TOKENS = 20_000;

interface Token {
  readonly kind: 'key' | 'text' | 'number' | 'word' | 'mark';
  readonly text: string;
}

/** Null: it is no JSON, or too long to be shown in colour. */
function prettyTokens(json: string): readonly Token[] | null {
  try {
    JSON.parse(json);
  } catch {
    return null;
  }
  const tokens = json.match(TOKEN) ?? [];
  return tokens.length > MOST_TOKENS ? null : indented(tokens);
}

function indented(tokens: readonly string[]): readonly Token[] {
  let depth = 0;
  const line = () => `\n${'  '.repeat(depth)}`;
  return tokens.map((text, index): Token => {
    depth += /^[{[]$/.test(text) ? 1 : /^[}\]]$/.test(text) ? -1 : 0;
    if (/^[{[,]$/.test(text)) return { kind: 'mark', text: text + line() };
    if (/^[}\]]$/.test(text)) return { kind: 'mark', text: line() + text };
    if (/^[:{[]/.test(text)) return { kind: 'mark', text: text === ':' ? ': ' : text };
    return { kind: kindOf(text, tokens[index + 1] ?? ''), text };
  });
}

function kindOf(text: string, next: string): Token['kind'] {
  if (text.startsWith('"')) return next === ':' ? 'key' : 'text';
  return /^-?\d/.test(text) ? 'number' : 'word';
}

/** In colour, unless it is no JSON. */
export function JsonText({ text }: { text: string }) {
  const tokens = prettyTokens(text);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre class="code" tabIndex={0}>
      {tokens?.map(({ kind, text }, index) =>
        kind === 'mark' ? text : <Untrusted key={index} kind={kind} text={text} />,
      ) ?? <Untrusted text={text} />}
    </pre>
  );
}
