import type { DeliveryMetrics, HttpMetrics } from '../../src/observability/metrics.js';

const nothing = () => undefined;

/** For parts whose metrics are not what a test looks at. */
export const noDeliveryMetrics: DeliveryMetrics = {
  attempted: nothing,
  connected: nothing,
  came: nothing,
  putOff: nothing,
  delivered: nothing,
  deadLetter: nothing,
};

export const noHttpMetrics: HttpMetrics = { answered: nothing };
