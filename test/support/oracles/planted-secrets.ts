/**
 * Recognisable secrets: planted by name, then searched for in any output, unchanged and in the forms that bytes commonly take
 * on their way into a log, a file or a response.
 */
import { randomBytes } from 'node:crypto';

/** So many characters in a row of one form count as found. */
const PIECE = 12;

export interface Find {
  readonly secret: string;
  readonly form: string;
}

export class PlantedSecrets {
  readonly #pieces = new Map<string, Find>();

  /** @param text the secret; random by default @param bytes the decoded secret, if the text is an encoding */
  plant(secret: string, text = randomBytes(24).toString('base64url'), bytes?: Buffer): string {
    if (text.length < PIECE) throw new RangeError(`${secret} is too short to be recognised`);
    const forms = [...formsOf(Buffer.from(text)), ['percent-encoded', encodeURIComponent(text)] as const];
    for (const [form, whole] of [...forms, ...(bytes ? formsOf(bytes) : [])])
      for (let at = 0; at + PIECE <= whole.length; at += 1)
        this.#pieces.set(whole.slice(at, at + PIECE), { secret, form });
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
    for (let at = 0; at + PIECE <= text.length; at += 1) {
      const find = this.#pieces.get(text.slice(at, at + PIECE));
      if (find) found.set(`${find.secret} ${find.form}`, find);
    }
    return [...found.values()];
  }
}

function formsOf(bytes: Buffer): (readonly [form: string, text: string])[] {
  const hex = bytes.toString('hex');
  return [['raw', bytes.toString('latin1')], ['hex', hex], ['hex', hex.toUpperCase()], ...base64(bytes)];
}

/** At each of the three alignments that a secret may have in encoded data. */
function base64(bytes: Buffer): (readonly [form: string, text: string])[] {
  return [0, 1, 2].flatMap((before) => {
    const inside = Buffer.concat([Buffer.alloc(before), bytes]);
    // Without the characters that hold bits of the data before or after the secret.
    const text = inside.toString('base64').slice(before === 0 ? 0 : 4, Math.floor(inside.length / 3) * 4);
    return [
      ['base64', text],
      ['base64url', text.replaceAll('+', '-').replaceAll('/', '_')],
    ] as const;
  });
}
