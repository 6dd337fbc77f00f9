import type { DeliveryMetrics, HttpMetrics } from '../../../src/observability/metrics.js';

const nothing = () => undefined;

/** Metrics for tests that do not check them. */
export const noDeliveryMetrics: DeliveryMetrics = {
  attempted: nothing,
  connected: nothing,
  came: nothing,
  deferred: nothing,
  delivered: nothing,
  deadLetter: nothing,
};

export const noHttpMetrics: HttpMetrics = { expect: nothing, answered: nothing, skippedPayment: nothing };
