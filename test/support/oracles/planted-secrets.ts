/**
 * Recognisable secrets: planted by name, then searched for in any output, unchanged and in every form that bytes
 * commonly take on their way into a log, a file or a response. Twelve consecutive bytes of a secret count as found.
 */
import { randomBytes } from 'node:crypto';

/** The shortest piece of a secret that counts. */
const PIECE_BYTES = 12;

export interface Find {
  readonly secret: string;
  readonly form: string;
}

/** A secret's text in one form, and the minimum number of its characters that represent `PIECE_BYTES` of the secret. */
interface Form {
  readonly form: string;
  readonly text: string;
  readonly piece: number;
}

interface Piece extends Find {
  readonly text: string;
}

export class PlantedSecrets {
  /** By their first characters. */
  readonly #pieces = new Map<string, Piece[]>();

  /** @param text the secret; random by default @param bytes the decoded secret, if the text is an encoding */
  plant(secret: string, text = randomBytes(24).toString('base64url'), bytes?: Buffer): string {
    if (text.length < PIECE_BYTES) throw new RangeError(`${secret} is too short to be recognised`);
    const uri = encodeURIComponent(text);
    const forms = [
      ...formsOf(Buffer.from(text)),
      ...[uri, lowerEscapes(uri)].map((text) => ({ form: 'percent-encoded', text, piece: PIECE_BYTES })),
      ...(bytes ? formsOf(bytes) : []),
    ];
    for (const { form, text, piece } of forms) {
      for (let at = 0; at + piece <= text.length; at += 1)
        this.#add({ secret, form, text: text.slice(at, at + piece) });
    }
    return text;
  }

  /** A random header value with characters that encodings change. */
  plantValue(secret: string): string {
    const part = () => randomBytes(12).toString('base64');
    return this.plant(secret, `${part()}/${part()}+`);
  }

  /** Each secret found, once per form. */
  foundIn(written: Buffer | string): Find[] {
    const text = Buffer.from(written as string).toString('latin1');
    const found = new Map<string, Find>();
    for (let at = 0; at + PIECE_BYTES <= text.length; at += 1) {
      for (const piece of this.#pieces.get(text.slice(at, at + PIECE_BYTES)) ?? []) {
        const { secret, form } = piece;
        if (text.startsWith(piece.text, at)) found.set(`${secret} ${form}`, { secret, form });
      }
    }
    return [...found.values()];
  }

  #add(piece: Piece): void {
    const start = piece.text.slice(0, PIECE_BYTES);
    const known = this.#pieces.get(start);
    if (known) known.push(piece);
    else this.#pieces.set(start, [piece]);
  }
}

function formsOf(bytes: Buffer): Form[] {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0'));
  const upper = hex.map((digits) => digits.toUpperCase());
  const perByte = (form: string, parts: readonly string[], between = '') => {
    const fewest = parts.map(({ length }) => length).sort((a, b) => a - b);
    const characters = fewest.slice(0, PIECE_BYTES).reduce((sum, length) => sum + length, 0);
    return { form, text: parts.join(between), piece: characters + (PIECE_BYTES - 1) * between.length };
  };
  return [
    { form: 'raw', text: bytes.toString('latin1'), piece: PIECE_BYTES },
    ...base64(bytes),
    ...[hex, upper].map((digits) => perByte('hex', digits)),
    ...[hex, upper].map((digits) => perByte('hex with spaces', digits, ' ')),
    ...[hex, upper].map((digits) =>
      perByte(
        'percent-encoded',
        digits.map((pair) => `%${pair}`),
      ),
    ),
    // JSON of a Buffer.
    perByte('decimal', [...bytes].map(String), ','),
  ];
}

/** At each of the three alignments that a secret may have in encoded data. */
function base64(bytes: Buffer): Form[] {
  return [0, 1, 2].flatMap((before) => {
    const inside = Buffer.concat([Buffer.alloc(before), bytes]);
    // Without the characters that hold bits of the data before or after the secret.
    const text = inside.toString('base64').slice(before === 0 ? 0 : 4, Math.floor(inside.length / 3) * 4);
    // Twelve bytes contain three whole triplets at any alignment.
    const piece = Math.floor((PIECE_BYTES - 2) / 3) * 4;
    const url = text.replaceAll('+', '-').replaceAll('/', '_');
    return [
      { form: 'base64', text, piece },
      { form: 'base64url', text: url, piece },
    ];
  });
}

function lowerEscapes(uri: string): string {
  return uri.replace(/%../g, (escaped) => escaped.toLowerCase());
}
