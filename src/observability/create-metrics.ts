/** All metrics of /metrics, created once by composition/app.ts and handed to the parts. */
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type DeliveryLabels, deliveryMetrics, httpMetrics, storeMetrics } from './counted-metrics.js';
import { Exposition, type Sample } from './exposition.js';
import type { ExposedMetrics } from './metrics.js';
import { watchedMetrics } from './watched-metrics.js';

/**
 * ms. The delay is the lateness of its timer, so the timer's own interval is subtracted. Each 10 ms it took half of an idle
 * service's processor time; each 100 ms it may find a delay of less than that too short, or not at all.
 */
const RESOLUTION = 100;
const NANO = 1e-9;

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

/** Metrics of the process, under the names shared by Prometheus' client libraries. @returns stops the measurement */
function processMetrics(exposition: Exposition, build: { version: string; roles: readonly string[] }): () => void {
  exposition.gauge(
    'account_webhooks_build_info',
    'Always 1. The labels say what runs.',
    ['version', 'node', 'roles'],
    () => [[1, build.version, process.version, build.roles.join()]],
  );
  const gauge = (name: string, help: string, value: () => number) =>
    exposition.gauge(name, help, [], () => [[value()]]);
  const startedAt = Date.now() / 1000 - process.uptime();
  gauge('process_start_time_seconds', 'When the process started, seconds since the epoch.', () => startedAt);
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  gauge('process_open_fds', 'Open file descriptors.', () => readdirSync('/proc/self/fd').length);
  gauge('nodejs_heap_size_total_bytes', "V8's heap.", () => process.memoryUsage().heapTotal);
  gauge('nodejs_heap_size_used_bytes', "The used part of V8's heap.", () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Memory outside of the V8 heap that V8 tracks, such as buffers.', () => {
    return process.memoryUsage().external;
  });
  exposition.growing('process_cpu_seconds_total', 'CPU time, user and system.', [], () => {
    const { user, system } = process.cpuUsage();
    return [[(user + system) / 1e6]];
  });
  return eventLoopDelay(exposition);
}

function eventLoopDelay(exposition: Exposition): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  delays.enable();
  const help = 'Event loop delay since the last scrape.';
  exposition.gauge('account_webhooks_event_loop_delay_seconds', help, ['stat'], () => {
    const late = (nanoseconds: number) =>
      delays.count === 0 ? 0 : Math.max(0, nanoseconds * NANO - RESOLUTION / 1000);
    const samples: Sample[] = [
      [late(delays.mean), 'mean'],
      [late(delays.percentile(50)), 'p50'],
      [late(delays.percentile(99)), 'p99'],
      [late(delays.max), 'max'],
    ];
    delays.reset();
    return samples;
  });
  return () => void delays.disable();
}
