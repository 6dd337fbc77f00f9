/**
 * What became of one idempotency key, from the events of its stream. Pure. Times are ISO 8601, UTC, milliseconds.
 *
 *   free -> in use -> answered -> free again, 24 h later
 *    ^        |
 *    +--------+  released: the request was refused; or nothing was heard of it for 24 h
 */
export interface KeptAnswer {
  readonly status: number;
  readonly message: string;
}

export interface IdempotencyKeyUsed {
  readonly type: 'IdempotencyKeyUsed';
  /** fingerprint: fingerprint.ts says what it is. */
  readonly data: { readonly fingerprint: string; readonly usedAt: string };
}

export interface IdempotentAnswerKept {
  readonly type: 'IdempotentAnswerKept';
  readonly data: KeptAnswer & { readonly answeredAt: string };
}

export interface IdempotencyKeyReleased {
  readonly type: 'IdempotencyKeyReleased';
  readonly data: { readonly releasedAt: string };
}

export type KeyEvent = IdempotencyKeyUsed | IdempotentAnswerKept | IdempotencyKeyReleased;

export type KeyState =
  | { readonly kind: 'free' }
  | { readonly kind: 'in-use'; readonly fingerprint: string; readonly since: string }
  | {
      readonly kind: 'answered';
      readonly fingerprint: string;
      readonly since: string;
      readonly answer: KeptAnswer;
    };

export const FREE: KeyState = { kind: 'free' };
export const KEPT_MS = 24 * 3_600_000;

export function evolve(state: KeyState, event: KeyEvent): KeyState {
  switch (event.type) {
    case 'IdempotencyKeyUsed':
      return { kind: 'in-use', fingerprint: event.data.fingerprint, since: event.data.usedAt };
    case 'IdempotentAnswerKept': {
      const { status, message, answeredAt: since } = event.data;
      if (state.kind === 'free') return state;
      return { kind: 'answered', fingerprint: state.fingerprint, since, answer: { status, message } };
    }
    case 'IdempotencyKeyReleased':
      return FREE;
    default:
      // A stored event of a later release: not known here, and no reason to stop.
      event satisfies never;
      return state;
  }
}

export function at(now: Date, state: KeyState): KeyState {
  return state.kind !== 'free' && now.getTime() - Date.parse(state.since) >= KEPT_MS ? FREE : state;
}
