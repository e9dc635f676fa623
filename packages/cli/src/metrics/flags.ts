import { addOptionGroup, type Command, InvalidArgumentError, option } from '../commander.ts'
import { duration } from '../flag-values.ts'

/** Adds the flags that send metrics to a collector. `/metrics` is served in any case. */
export function addMetricsFlags(command: Command): Command {
  return addOptionGroup(command, 'Metrics', [
    option('--metrics-otlp-endpoint <address>', 'OTLP endpoint (gRPC, without TLS) that receives what /metrics shows').argParser(
      target,
    ),
    option('--metrics-otlp-interval <duration>', 'time between two exports to --metrics-otlp-endpoint')
      .default(60_000, '1m0s')
      .argParser(interval),
  ])
}

const shortestIntervalMs = 1000

function interval(text: string): number {
  const ms = duration(text)
  if (ms >= shortestIntervalMs) return ms
  throw new InvalidArgumentError('It must be at least 1s.')
}

function target(text: string): string {
  const [, scheme = 'dns'] = /^([^/]*):\/\//.exec(text) ?? []
  if (text !== '' && ['dns', 'unix'].includes(scheme)) return text
  throw new InvalidArgumentError('It must be an address, such as localhost:4317 or unix:///run/collector.sock.')
}

export interface MetricsOptions {
  /** Target of gRPC. Absent: metrics are only served. */
  readonly metricsOtlpEndpoint?: string
  /** Milliseconds. */
  readonly metricsOtlpInterval: number
}
