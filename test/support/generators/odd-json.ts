/** JSON that is odd but valid, and bytes that are nearly JSON. */
import fc from 'fast-check';

/** Deep values are rare: they take long. */
const depths = fc.oneof(
  { weight: 29, arbitrary: fc.integer({ min: 1, max: 100 }) },
  { weight: 1, arbitrary: fc.constant(5_000) },
);

const TEXTS = [
  ...['', ' ', '\0', '__proto__', 'constructor', 'toString', '\ud800', '\udfff\ud800', '\u202eabc', 'ﬀ', '𝟘', '１２７'],
  ...['\r\nX: y', '../../x', '%00', '%', '{}', 'null', '-0', '1e999', 'a"b\\', '\u2028', '\ufeff', 'Ω'.repeat(400)],
];

const SURROGATES = { from: 0xd800, count: 0x800 };

/** Any characters. fc.string({ unit: 'binary' }) generates the same, but takes 0.6 s of CPU time to construct. */
const anyCharacter = fc
  .nat(0x10ffff - SURROGATES.count)
  .map((nth) => String.fromCodePoint(nth < SURROGATES.from ? nth : nth + SURROGATES.count));

export function anyCharacters(constraints: fc.ArrayConstraints = {}): fc.Arbitrary<string> {
  return fc.array(anyCharacter, constraints).map((characters) => characters.join(''));
}

export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ maxLength: 12 }),
  anyCharacters({ maxLength: 12 }),
  fc.integer({ min: 1, max: 1_000 }).map((length) => 'x'.repeat(length)),
);

const NUMBERS = [0, -0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 2 ** 64, 1e308, 5e-324, 9007199254740991];

export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, [], {}, [null], [[]], { length: 5 }, { toString: 1 }, ...NUMBERS),
  oddText,
  fc.jsonValue({ maxDepth: 2 }),
);

/** Valid JSON values that JSON.stringify never writes. */
export const oddLiteral = fc.oneof(
  fc.constantFrom('1e999', '-1e999', '1E400', '-0.0', '12345678901234567890', '0.1000000000000000055511151231257827'),
  fc.constantFrom('"\\ud800"', '"\\u0000"', '{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"a":1}}}'),
  depths.map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  depths.map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  oddValue.map((value) => JSON.stringify(value)),
);

const NOT_JSON = ['', ' ', 'null', '"', '{', '}', '[]', '{}', '{"a"}', "{'a':1}", '{a:1}', '{"a":1,}', '{"a":NaN}'];
const NOT_UTF8 = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0xfe, 0xff]];

/** Bytes that are not JSON, or JSON of any shape. */
export const anyBytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(...NOT_JSON).map((text) => Buffer.from(text)),
  oddLiteral.map((text) => Buffer.from(text)),
  oddText.map((text) => Buffer.from(text)),
);

/** An object with one change that keeps it a JSON object: another value, a missing field, an extra field. */
export function withOneChange(objects: fc.Arbitrary<object>): fc.Arbitrary<string> {
  const drawn = { object: objects, at: fc.nat(20), literal: oddLiteral, kind: fc.nat(3), name: oddText };
  return fc.record(drawn).map(({ object, at, literal, kind, name }) => {
    const places = placesOf(object);
    const place = places[at % places.length];
    if (!place || kind === 0) return withField(JSON.stringify(object), name, literal, at % 2 === 0);
    // A duplicate key: the parser decides which one counts.
    if (kind === 1) return withField(JSON.stringify(object), place[0] ?? name, literal, at % 2 === 0);
    if (kind === 2) return JSON.stringify(changed(object, place, undefined));
    return JSON.stringify(changed(object, place, MARK)).replace(JSON.stringify(MARK), () => literal);
  });
}

/** Bytes of a JSON object with one defect: truncated, with a byte order mark, or with invalid UTF-8. */
export function broken(texts: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  const drawn = { text: texts, at: fc.noBias(fc.nat(999)), kind: fc.nat(3) };
  return fc.record({ ...drawn, bytes: fc.constantFrom(...NOT_UTF8) }).map(({ text, at, kind, bytes }) => {
    const whole = Buffer.from(text);
    const place = Math.floor((at / 1_000) * whole.length);
    if (kind === 0) return whole.subarray(0, place);
    if (kind === 1) return Buffer.from(`\ufeff${text}`);
    if (kind === 2) return Buffer.from(`${text}${text.slice(0, 1)}`);
    return Buffer.concat([whole.subarray(0, place), Buffer.from(bytes), whole.subarray(place)]);
  });
}

const MARK = '-mark-';

/** The paths of all values in an object, at any depth. */
function placesOf(node: unknown, path: readonly string[] = []): (readonly string[])[] {
  const here = path.length > 0 ? [path] : [];
  if (typeof node !== 'object' || node === null) return here;
  return [...here, ...Object.entries(node).flatMap(([name, value]) => placesOf(value, [...path, name]))];
}

/** A copy with another value at that place; undefined removes the value. */
function changed(node: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (Array.isArray(node))
    return node.map((item, index) => (String(index) === name ? changed(item, rest, value) : item));
  const own = node as Readonly<Record<string, unknown>>;
  return { ...own, [name]: changed(own[name], rest, value) };
}

function withField(text: string, name: string, literal: string, isLast: boolean): string {
  const field = `${JSON.stringify(name)}:${literal}`;
  if (text === '{}') return `{${field}}`;
  return isLast ? `${text.slice(0, -1)},${field}}` : `{${field},${text.slice(1)}`;
}
