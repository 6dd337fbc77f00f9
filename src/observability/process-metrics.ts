/** Metrics of the process, under the names shared by Prometheus' client libraries. */
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Exposition, Sample } from './exposition.js';

/** ms. The delay is the lateness of its timer, so the timer's own interval is subtracted. */
const RESOLUTION = 10;
const NANO = 1e-9;

/** @returns stops the measurement */
export function processMetrics(
  exposition: Exposition,
  build: { version: string; roles: readonly string[] },
): () => void {
  exposition.gauge(
    {
      name: 'account_webhooks_build_info',
      help: 'Always 1. The labels say what runs.',
      labels: ['version', 'node', 'roles'],
    },
    () => [[1, build.version, process.version, build.roles.join()]],
  );
  const gauge = (name: string, help: string, value: () => number) =>
    exposition.gauge({ name, help }, () => [[value()]]);
  const startedAt = Date.now() / 1000 - process.uptime();
  gauge('process_start_time_seconds', 'When the process started, seconds since the epoch.', () => startedAt);
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  gauge('process_open_fds', 'Open file descriptors.', () => readdirSync('/proc/self/fd').length);
  gauge('nodejs_heap_size_total_bytes', "V8's heap.", () => process.memoryUsage().heapTotal);
  gauge('nodejs_heap_size_used_bytes', "The used part of V8's heap.", () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Memory outside of the V8 heap that V8 tracks, such as buffers.', () => {
    return process.memoryUsage().external;
  });
  exposition.growing({ name: 'process_cpu_seconds_total', help: 'CPU time, user and system.' }, () => {
    const { user, system } = process.cpuUsage();
    return [[(user + system) / 1e6]];
  });
  return eventLoopDelay(exposition);
}

function eventLoopDelay(exposition: Exposition): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  delays.enable();
  const described = {
    name: 'account_webhooks_event_loop_delay_seconds',
    help: 'Event loop delay since the last scrape.',
    labels: ['stat'],
  };
  exposition.gauge(described, () => {
    const late = (nanoseconds: number) => Math.max(0, nanoseconds * NANO - RESOLUTION / 1000);
    const samples: Sample[] =
      delays.count === 0
        ? [0, 0, 0, 0].map((none, index): Sample => [none, STATS[index] ?? ''])
        : [delays.mean, delays.percentile(50), delays.percentile(99), delays.max].map(
            (value, index): Sample => [late(value), STATS[index] ?? ''],
          );
    delays.reset();
    return samples;
  });
  return () => void delays.disable();
}

const STATS = ['mean', 'p50', 'p99', 'max'];
