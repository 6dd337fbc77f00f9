/** The result of a test event, from deliveries to the API. */
import type { ExpiredCertificate } from './expired-certificate.js';

export interface TestResult {
  /** The webhook-id. */
  readonly id: string;
  readonly success: boolean;
  /** Null if none came. */
  readonly status: number | null;
  /** Null if a status came. */
  readonly error: string | null;
  /** Of an error: its cause, as a code, or null. */
  readonly reason?: string | null;
  readonly expiredCertificate?: ExpiredCertificate | undefined;
  readonly durationMs: number;
  /** The start of the answer's body; null without one. */
  readonly response: string | null;
}

/** interrupted: the service stops; this says nothing about the endpoint. */
export type TestOutcome =
  | { readonly kind: 'sent'; readonly result: TestResult }
  | { readonly kind: 'busy' }
  | { readonly kind: 'interrupted' };
