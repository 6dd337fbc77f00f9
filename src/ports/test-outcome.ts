/** What came of a test event: deliveries tell, the API answers. */
export interface TestResult {
  /** The webhook-id. */
  readonly id: string;
  readonly success: boolean;
  /** Null where no response came. */
  readonly status: number | null;
  /** Null where a response came in full. */
  readonly error: string | null;
  readonly durationMs: number;
}

/** interrupted: the service stops; it says nothing of the endpoint. */
export type TestOutcome =
  | { readonly kind: 'sent'; readonly result: TestResult }
  | { readonly kind: 'busy' }
  | { readonly kind: 'interrupted' };
