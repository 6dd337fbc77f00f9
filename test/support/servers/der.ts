/** DER (X.690), as far as tests write it themselves. */
export const SEQUENCE = 0x30;

export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body.length)]), body]);
}

/** @param bytes of a number that isn't negative, without zeros before it */
export function derInteger(bytes: Uint8Array): Buffer {
  const sign = (bytes[0] ?? 0) >= 0x80 ? [0] : [];
  return der(0x02, Buffer.from(sign), bytes);
}

export function pemOf(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  if (length < 0x100) return [0x81, length];
  return length < 0x10000
    ? [0x82, length >> 8, length & 0xff]
    : [0x83, length >> 16, (length >> 8) & 0xff, length & 0xff];
}
