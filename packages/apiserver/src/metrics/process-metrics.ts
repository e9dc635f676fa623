import { type ProcessUsage, processUsage } from '@krmkit/base/platform'
import { type SampledMetric, sampledMetric } from './sampled-metric.ts'

/** CPU time, memory and start time of the process, under their usual names. Empty where the runtime has no processes. */
export function processMetrics(): SampledMetric[] {
  const first = processUsage()
  if (first === undefined) return []
  const metric = (type: 'gauge' | 'counter', name: string, help: string, of: (usage: ProcessUsage) => number) =>
    sampledMetric(type, [name, help], () => [{ labels: {}, value: of(processUsage() ?? first) }])
  return [
    metric('counter', 'process_cpu_seconds_total', 'Processor time of the process, in seconds.', ({ cpuSeconds }) => cpuSeconds),
    metric('gauge', 'process_resident_memory_bytes', 'Resident memory of the process, in bytes.', (usage) => usage.residentBytes),
    metric(
      'gauge',
      'process_start_time_seconds',
      'Start of the process, in seconds since the epoch.',
      ({ startTimeSeconds }) => startTimeSeconds,
    ),
  ]
}
