/** TypeScript of an OpenAPI document, without the descriptions: the document has those. */
import openapiTs, { astToString } from 'openapi-typescript';

/** Methods and parameters that an operation does not have. */
const ABSENT = /^ +\w+\?: never;\n/gm;

/** @param {object} document @returns {Promise<string>} */
export async function openApiTypes(document) {
  const nodes = await openapiTs(bare(document), { alphabetize: true });
  const text = astToString(nodes).replace(ABSENT, '');
  return `/** Written by \`make console-types\` from /openapi.json. */\n\n${text}`;
}

const TEXTS = ['description', 'summary', 'example', 'examples'];

/** @param {string} under the key of the value: a field of an object may have the name of a keyword */
function bare(value, under) {
  if (Array.isArray(value)) return value.map((inner) => bare(inner));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => under === 'properties' || !TEXTS.includes(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, bare(inner, key)]));
}
