/** The events of a request body, each as the bytes that were sent: nothing is serialised again. */
import { isUtf8 } from 'node:buffer';
import { isBlankLine, NEWLINE } from '../../ndjson.js';
import { ApiError } from '../api-error.js';

export function* linesOf(body: Buffer): Iterable<Buffer> {
  for (let begin = 0; begin < body.length; ) {
    const found = body.indexOf(NEWLINE, begin);
    const end = found === -1 ? body.length : found;
    const line = body.subarray(begin, end);
    if (!isBlankLine(line)) yield line;
    begin = end + 1;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** By byte: how it changes the depth. */
const DEPTH = new Int8Array(256);
for (const open of '[{') DEPTH[open.charCodeAt(0)] = 1;
for (const close of ']}') DEPTH[close.charCodeAt(0)] = -1;
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The elements of a JSON array. @throws ApiError 400 if the body is none */
export function elementsOf(body: Buffer): Iterable<Buffer> {
  if (!isArray(body)) throw new ApiError(400, 'the body is not a JSON array in UTF-8');
  return cut(body);
}

function isArray(body: Buffer): boolean {
  try {
    return isUtf8(body) && Array.isArray(JSON.parse(body.toString('utf8')));
  } catch {
    return false;
  }
}

/** Hazard: only for bytes that are a JSON array. */
function* cut(body: Buffer): Iterable<Buffer> {
  let depth = 0;
  let begin = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    const step = DEPTH[byte] ?? 0;
    if (byte === QUOTE) at = endOfString(body, at);
    depth += step;
    const isEdge = depth === 1 ? byte === COMMA || step === 1 : depth === 0 && step === -1;
    if (!isEdge) continue;
    const element = trimmed(body.subarray(begin, at));
    // Only what is before the first bracket, or in an empty array, is empty.
    if (element.length > 0) yield element;
    begin = at + 1;
  }
}

/** @param at of the opening quote. @returns that of the closing one: an even number of backslashes is before it */
function endOfString(body: Buffer, at: number): number {
  for (let end = body.indexOf(QUOTE, at + 1); ; end = body.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (body[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}

function trimmed(text: Buffer): Buffer {
  let [begin, end] = [0, text.length];
  while (begin < end && SPACE.has(text[begin] ?? 0)) begin += 1;
  while (end > begin && SPACE.has(text[end - 1] ?? 0)) end -= 1;
  return text.subarray(begin, end);
}
