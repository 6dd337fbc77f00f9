/** Writes the types of the API, as a service of these sources describes itself, without the descriptions: the document has those. */
import { writeFileSync } from 'node:fs';
import openapiTs, { astToString } from 'openapi-typescript';
import { serviceDocument } from './service-document.js';

const [file] = process.argv.slice(2);

/** Methods and parameters that an operation does not have. */
const ABSENT = /^ +\w+\?: never;\n/gm;
const TEXTS = ['description', 'summary', 'example', 'examples'];

/** @param {string} [under] the key of the value: a field of an object may have the name of a keyword */
function bare(value, under) {
  if (Array.isArray(value)) return value.map((inner) => bare(inner));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => under === 'properties' || !TEXTS.includes(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, bare(inner, key)]));
}

const nodes = await openapiTs(bare(await serviceDocument()), { alphabetize: true });
writeFileSync(file, `/** Written by make from /openapi.json. */\n\n${astToString(nodes).replace(ABSENT, '')}`);
