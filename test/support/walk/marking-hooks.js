/** Each function of src/ begins with a mark that names its file. V8's coverage counts the same files, but knows no order. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import ts from 'typescript';

const OPTIONS = { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };

export function load(url, context, next) {
  const [, file] = /\/(src\/(?!console\/).*\.ts)$/.exec(url) ?? [];
  if (!file) return next(url, context);
  const text = marked(readFileSync(fileURLToPath(url), 'utf8'), `globalThis.__ran(${JSON.stringify(file)})`);
  return { format: 'module', source: transformSync(text, OPTIONS).code, shortCircuit: true };
}

export function marked(text, mark) {
  const inserted = [];
  const visit = (node) => {
    const { body } = node;
    if (ts.isFunctionLike(node) && body) {
      if (ts.isBlock(body)) inserted.push([body.getStart() + 1, `${mark};`]);
      else inserted.push([body.getStart(), `(${mark},`], [body.end, ')']);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('', text, ts.ScriptTarget.Latest, true));
  // From the end on, so that places stay; of those at one place, which are ends of bodies, each is the same.
  const fromTheEnd = inserted.sort(([one], [other]) => other - one);
  return fromTheEnd.reduce((result, [at, part]) => result.slice(0, at) + part + result.slice(at), text);
}
