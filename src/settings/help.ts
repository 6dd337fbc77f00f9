/** The settings for a terminal: `account-webhooks serve --help`. */
import { SECTIONS, type Setting } from './table.js';

const WIDTH = 100;

export function settingsHelp(): string {
  const sections = Object.entries<Readonly<Record<string, Setting>>>(SECTIONS).map(([name, settings]) =>
    [`${name}:`, ...Object.entries(settings).flatMap(linesOf)].join('\n'),
  );
  return `\nSettings (environment variables; an empty one counts as unset):\n\n${sections.join('\n\n')}`;
}

function linesOf([key, { parser, byDefault, says }]: readonly [string, Setting]): readonly string[] {
  const takes = `${parser.expected}${byDefault ? ` (default: ${byDefault})` : ''}`;
  return [`  ${key}`, ...wrapped(`${says.replaceAll('`', '')} Takes ${takes}.`)];
}

function wrapped(sentence: string): readonly string[] {
  const lines = [''];
  for (const word of sentence.split(' ')) {
    const line = `${lines.at(-1) || '     '} ${word}`;
    if (line.length > WIDTH) lines.push(`      ${word}`);
    else lines[lines.length - 1] = line;
  }
  return lines;
}
