/** Links between the documents that lead nowhere: to a file that is not there, or a heading that its document lacks. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import GitHubSlugger from 'github-slugger';

const FENCED = /^( *)(`{3,}|~{3,})[^\n]*\n(?:.*\n)*?\1?\2.*$/gm;
/** Within a paragraph. */
const CODE = /(`+)(?!`)(?:(?!\n\n)[\s\S])*?[^`]\1(?!`)/g;
/** `](target "title")` and `[name]: target`; a target may stand in <>. */
const LINK = /\]\(\s*<?([^)\s>]+)>?[^)]*\)|^ {0,3}\[[^\]\n]+\]:\s*<?([^\s>]+)/gm;
const ELSEWHERE = /^([a-z][a-z0-9+.-]*:|\/\/)/i;

/**
 * @param root folder of the paths
 * @param paths of Markdown files
 * @returns a line for each dead link: the document, its line, the link and what is missing
 */
export function deadLinks(root, paths) {
  const anchors = new Map();
  const anchorsOf = (path) => {
    if (!anchors.has(path)) anchors.set(path, anchorsIn(readFileSync(join(root, path), 'utf8')));
    return anchors.get(path);
  };
  const whyDead = (from, target) => {
    const [file = '', anchor] = target.split('#', 2).map(decoded);
    const path = file === '' ? from : normalize(join(dirname(from), file));
    if (path.startsWith('..') || !existsSync(join(root, path))) return 'no such file';
    return anchor && path.endsWith('.md') && !anchorsOf(path).has(anchor) ? 'no such heading' : undefined;
  };
  return paths.flatMap((from) =>
    linksIn(readFileSync(join(root, from), 'utf8')).flatMap(({ line, target }) => {
      const why = whyDead(from, target);
      return why ? [`${from}:${line}: ${target}: ${why}`] : [];
    }),
  );
}

/** Relative ones, outside of code. */
function linksIn(markdown) {
  const text = markdown.replace(FENCED, blanked).replace(CODE, blanked);
  return [...text.matchAll(LINK)].flatMap(({ index, 1: inline, 2: defined }) => {
    const target = inline ?? defined;
    return ELSEWHERE.test(target) ? [] : [{ target, line: text.slice(0, index).split('\n').length }];
  });
}

/** Of headings as GitHub makes them, of a second one with the same text -1, and ids that are written. */
function anchorsIn(markdown) {
  const text = markdown.replace(FENCED, blanked);
  const slugger = new GitHubSlugger();
  const headings = [...text.matchAll(/^ {0,3}#{1,6} +(.+?)(?: +#+)? *$/gm)];
  const written = [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)];
  const plain = (heading) => heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1');
  return new Set([...headings.map(([, heading]) => slugger.slug(plain(heading))), ...written.map(([, id]) => id)]);
}

/** A % that encodes nothing stands for itself. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Lines stay where they are. */
function blanked(code) {
  return code.replace(/[^\n]/g, ' ');
}
