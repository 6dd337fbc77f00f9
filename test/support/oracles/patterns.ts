/** The regular expressions of source files, found by TypeScript's parser. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SOURCE_FILE = /\.(ts|tsx|js|mjs|cjs)$/;
/** ajv's. */
const SCHEMA_FLAGS = 'u';
/** Methods of a string that make a regular expression of a text. */
const CONVERTING = new Set(['match', 'matchAll', 'search']);

export interface Pattern {
  /** File and line, or the document. */
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

export interface Patterns {
  /** Literals, and the `pattern` of JSON Schemas. */
  readonly literal: readonly Pattern[];
  /** The `pattern` of JSON Schemas that contain the values of expressions: what comes before the first and after the last. */
  readonly composed: readonly { readonly where: string; readonly start: string; readonly end: string }[];
  /** Places that make a regular expression of a text at run time. */
  readonly constructed: readonly string[];
}

/** @param folders of the repository */
export function findPatterns(folders: readonly string[]): Patterns {
  const files = folders.flatMap((folder) => sourceFiles(join(ROOT, folder)));
  const found = files.map((path) => findInText(relative(ROOT, path), readFileSync(path, 'utf8')));
  return {
    literal: found.flatMap(({ literal }) => literal),
    composed: found.flatMap(({ composed }) => composed),
    constructed: found.flatMap(({ constructed }) => constructed),
  };
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => SOURCE_FILE.test(path))
    .map((path) => join(folder, path));
}

export function findInText(path: string, text: string): Patterns {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const patterns = {
    literal: [] as Pattern[],
    composed: [] as Patterns['composed'][number][],
    constructed: [] as string[],
  };
  const visit = (node: ts.Node): void => {
    const where = `${path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`;
    if (ts.isRegularExpressionLiteral(node)) patterns.literal.push({ where, ...parseLiteral(node.text) });
    else if (isConstruction(node)) patterns.constructed.push(where);
    else if (ts.isPropertyAssignment(node) && nameOf(node.name) === 'pattern')
      addSchema(node.initializer, where, patterns);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return patterns;
}

function parseLiteral(literal: string): Pick<Pattern, 'source' | 'flags'> {
  const end = literal.lastIndexOf('/');
  return { source: literal.slice(1, end), flags: literal.slice(end + 1) };
}

/** RegExp(…), new RegExp(…), text.match('…'). */
function isConstruction(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false;
  const { expression, arguments: [first] = [] } = node;
  if (ts.isIdentifier(expression)) return expression.text === 'RegExp';
  if (!ts.isPropertyAccessExpression(expression)) return false;
  const isText = first !== undefined && (ts.isStringLiteralLike(first) || ts.isTemplateExpression(first));
  return expression.name.text === 'RegExp' || (isText && CONVERTING.has(expression.name.text));
}

/** Of a schema's pattern `X.source`, the literal X is found itself. */
function addSchema(
  value: ts.Expression,
  where: string,
  { literal, composed }: { literal: Pattern[]; composed: Patterns['composed'][number][] },
): void {
  if (ts.isStringLiteralLike(value)) literal.push({ where, source: value.text, flags: SCHEMA_FLAGS });
  else if (ts.isTemplateExpression(value)) {
    composed.push({ where, start: value.head.text, end: value.templateSpans.at(-1)?.literal.text ?? '' });
  } else if (!ts.isPropertyAccessExpression(value) || value.name.text !== 'source') {
    throw new Error(`${where}: write the pattern as a literal, so that it can be checked`);
  }
}

function nameOf(name: ts.PropertyName): string {
  return ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : '';
}

/** The value of each `keyword` in a JSON document, at any depth. */
export function schemaValues(document: unknown, keyword: 'pattern' | 'format'): string[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) =>
    name === keyword && typeof value === 'string' ? [value] : schemaValues(value, keyword),
  );
}
