import { type MetricFamily, readMetricFamilies } from '@krmkit/apiserver/metrics'
import { createTurns, Pace, runPaced } from '@krmkit/base/work'
import type { Clock } from '@krmkit/meta'
import { messageOf } from '../cli-error.ts'
import type { Resource } from '../otlp/common-messages.ts'
import { OtlpClient } from '../otlp/otlp-client.ts'
import { type MetricRequest, metricSignal, type TimedFamily } from './metric-messages.ts'

/** Series of one request: below the 4 MiB that collectors accept by default. */
const maxSeries = 2000

export interface MetricsPushOptions {
  /** Target of gRPC: `host:port`. */
  readonly endpoint: string
  readonly intervalMs: number
  /** Attributes of the process. */
  readonly resource: Resource
  /** Returns the text of `/metrics`. */
  readonly read: () => Promise<string>
  readonly clock: Pick<Clock, 'now' | 'setTimeout'>
  /** Called with the reason where metrics are lost: the first time, and again after metrics have arrived. */
  readonly onError: (error: unknown) => void
}

/** Sends the metrics of a server to a collector of OpenTelemetry at an interval, and a last time when it is disposed. */
export class MetricsPush implements AsyncDisposable {
  readonly #options: MetricsPushOptions
  readonly #client: OtlpClient<TimedFamily, MetricRequest>
  readonly #turns = createTurns()
  readonly #startTime: number
  #cancel: (() => void) | undefined
  #sending: Promise<void> = Promise.resolve()
  #isClosed = false
  #isReported = false

  constructor(options: MetricsPushOptions) {
    this.#options = options
    this.#client = new OtlpClient(options.endpoint, options.resource, metricSignal)
    this.#startTime = nanoseconds(options.clock.now())
    this.#wait()
  }

  #wait(): void {
    const { clock, intervalMs } = this.#options
    this.#cancel = clock.setTimeout(() => {
      this.#sending = this.#send().then(() => {
        if (!this.#isClosed) this.#wait()
      })
    }, intervalMs)
  }

  async #send(): Promise<void> {
    const { endpoint, read, clock, onError } = this.#options
    try {
      const families = await runPaced(readMetricFamilies(await read()), new Pace(this.#turns))
      const times = { startTime: this.#startTime, time: nanoseconds(clock.now()) }
      for (const batch of batchesOf(families)) await this.#client.send(batch.map((family) => ({ family, ...times })))
      this.#isReported = false
    } catch (error) {
      if (!this.#isReported) onError(new Error(`metrics do not reach the collector ${endpoint}: ${messageOf(error)}`))
      this.#isReported = true
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#cancel?.()
    await this.#sending
    await this.#send()
    this.#client.close()
  }
}

/** Families in batches with a limited number of series; a large family is split. */
function batchesOf(families: readonly MetricFamily[]): MetricFamily[][] {
  const batches: MetricFamily[][] = []
  let batch: MetricFamily[] = []
  let room = maxSeries
  for (const family of families.filter(({ points }) => points.length > 0)) {
    for (let from = 0; from < family.points.length; ) {
      if (room === 0) {
        batches.push(batch)
        batch = []
        room = maxSeries
      }
      const part = { ...family, points: family.points.slice(from, from + room) } as MetricFamily
      batch.push(part)
      room -= part.points.length
      from += part.points.length
    }
  }
  return batch.length === 0 ? batches : [...batches, batch]
}

function nanoseconds(ms: number): number {
  return ms * 1e6
}
