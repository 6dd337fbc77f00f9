/** All metrics of /metrics, created once by composition/app.ts and handed to the parts. */
import { type DeliveryLabels, deliveryMetrics } from './delivery-metrics.js';
import { Exposition } from './exposition.js';
import type { ExposedMetrics } from './metrics.js';
import { processMetrics } from './process-metrics.js';
import { httpMetrics, storeMetrics } from './request-metrics.js';
import { watchedMetrics } from './watched-metrics.js';

export interface MetricsOptions extends DeliveryLabels {
  readonly version: string;
  readonly roles: readonly string[];
  /** ms since the epoch */
  readonly now: () => number;
}

export function createMetrics(options: MetricsOptions): ExposedMetrics {
  const exposition = new Exposition();
  const close = processMetrics(exposition, options);
  return {
    delivery: deliveryMetrics(exposition, options),
    http: httpMetrics(exposition),
    store: storeMetrics(exposition),
    watch: watchedMetrics(exposition, options.now),
    contentType: exposition.contentType,
    text: async () => exposition.text(),
    close,
  };
}
