import type { ObjectReader } from '@krmkit/admission'
import type { Clock } from '@krmkit/meta'
import { type AvailabilityStatus, failedCheck, passed, validateServiceBackend } from './availability.ts'
import type { ServiceSpec } from './local-services.ts'
import { aggregatorUser } from './remote-discovery.ts'
import type { RemoteService } from './remote-service.ts'

export interface ServiceCheckOptions {
  readonly remote: RemoteService
  readonly spec: ServiceSpec
  readonly reader: Pick<ObjectReader, 'get'>
  /** The service is not one of the cluster that the reader knows. */
  readonly isExternal: boolean
  /** Tries, where each may reach another address. */
  readonly attempts: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** As long as the stock server's client waits for an answer. */
const attemptMs = 5_000

/** Whether requests can be passed on: there is a service that listens, something behind it, and it tells what it serves. */
export async function checkService(options: ServiceCheckOptions): Promise<AvailabilityStatus> {
  const { attempts, isExternal: elsewhere, reader, remote, spec } = options
  const problem = remote.inProcess || elsewhere ? undefined : validateServiceBackend(spec, reader)
  if (problem !== undefined) return problem
  for (let attempt = 1; ; attempt++) {
    const problem = await attemptCheck(options)
    if (problem === undefined) return passed
    if (attempt >= attempts || options.signal.aborted) return failedCheck(problem)
  }
}

/** @returns what went wrong, in the words of the stock server. */
async function attemptCheck({ clock, remote, signal, spec }: ServiceCheckOptions): Promise<string | undefined> {
  const { group = '', version = '' } = spec
  const ended = new AbortController()
  const leave = (): void => ended.abort(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  const late = new Error('context deadline exceeded (Client.Timeout exceeded while awaiting headers)')
  const cancel = clock.setTimeout(() => ended.abort(late), attemptMs)
  let url: string | undefined
  try {
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const asked = await remote.probe(path, { user: aggregatorUser, signal: ended.signal })
    url = asked.url
    const answer = await asked.answer
    // Only the status counts.
    if (answer.body.kind === 'stream') await answer.body.stream[Symbol.asyncIterator]().return?.(undefined)
    if (answer.status >= 200 && answer.status <= 299) return undefined
    return `failing or missing response from ${url}: bad status from ${url}: ${answer.status}`
  } catch (error) {
    const why = ended.signal.reason === late ? late.message : error instanceof Error ? error.message : String(error)
    return url === undefined ? why : `failing or missing response from ${url}: Get ${JSON.stringify(url)}: ${why}`
  } finally {
    cancel()
    signal.removeEventListener('abort', leave)
  }
}
