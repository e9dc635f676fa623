import type { Tracer } from '@krmkit/base/tracing'
import type { Clock, Features, NamingProfile, Random } from '@krmkit/meta'
import { messageOf } from '../cli-error.ts'
import type { Resource } from '../otlp/common-messages.ts'
import { OtlpClient } from '../otlp/otlp-client.ts'
import { createSamplingTracer } from './sampling-tracer.ts'
import { spanSignal } from './span-messages.ts'
import { SpanQueue } from './span-queue.ts'
import { readTracingConfiguration } from './tracing-configuration.ts'

export interface TracingEnvironment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly features: Features
  /** Attributes of the process. */
  readonly resource: Resource
  /** Called with the reason where spans are lost: the first time, and again after spans have arrived. */
  readonly onError: (error: unknown) => void
}

/** A tracer that sends its spans to the collector of a TracingConfiguration. */
export interface Tracing extends AsyncDisposable {
  readonly tracer: Tracer
}

/** @param path of the TracingConfiguration @throws CliError */
export async function createTracing(path: string, environment: TracingEnvironment): Promise<Tracing> {
  const { clock, random, profile, features, resource, onError } = environment
  const { endpoint, samplingRatePerMillion } = await readTracingConfiguration(path, { features, apiDomain: profile.apiDomain })
  const client = new OtlpClient(endpoint, resource, spanSignal)
  let isReported = false
  const queue = new SpanQueue({
    clock,
    async send(spans) {
      await client.send(spans)
      isReported = false
    },
    onError(error) {
      if (!isReported) onError(new Error(`spans do not reach the collector ${endpoint}: ${messageOf(error)}`))
      isReported = true
    },
  })
  return {
    tracer: createSamplingTracer({ random, samplingRatePerMillion, ended: queue.add }),
    async [Symbol.asyncDispose]() {
      await queue.close()
      client.close()
    },
  }
}
