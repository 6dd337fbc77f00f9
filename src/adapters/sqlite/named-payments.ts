/**
 * Which payments requests may name: one bit of 2 MiB for each, so that nearly all deliveries cost no read of the file.
 * A bit that is set wrongly costs a read: with 1,000,000 named payments, 6 of 100 others have one. No bit is missing.
 *
 *   incomplete -> complete   (all rows of the file were added; until then every payment may be named)
 */

const BITS = 2 ** 24;
/** Deleted rows leave their bits. With as many deleted, the bits are collected again from the rows. */
const MAX_DELETED = BITS / 16;

export class NamedPayments {
  #bits: Uint32Array | null = null;
  #deleted = 0;
  isComplete = false;

  /** @param bit as bitOf(payment) */
  add(bit: number): void {
    this.#bits ??= new Uint32Array(BITS / 32);
    this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }

  mayHave(payment: string | null): boolean {
    if (!this.isComplete) return true;
    if (this.#bits === null) return false;
    const bit = bitOf(payment);
    return ((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0;
  }

  /** @returns whether to start again with a new instance */
  delete(rows: number): boolean {
    this.#deleted += rows;
    return this.#deleted > MAX_DELETED;
  }
}

/** FNV-1a, folded to 24 bits: payments are numbered by the broker, so nobody chooses a collision. */
export function bitOf(payment: string | null): number {
  let hash = 0x811c9dc5;
  if (payment !== null) {
    for (let at = 0; at < payment.length; at += 1) hash = Math.imul(hash ^ payment.charCodeAt(at), 0x01000193);
  }
  return ((hash >>> 24) ^ hash) & (BITS - 1);
}
