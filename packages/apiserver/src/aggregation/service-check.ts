import type { ObjectReader } from '@krmkit/admission'
import type { Clock } from '@krmkit/meta'
import { createDeadline } from '../request/deadline.ts'
import { groupVersionPath } from '../request/info.ts'
import { type AvailabilityStatus, failedCheck, passed, validateServiceBackend } from './availability.ts'
import type { ServiceSpec } from './local-services.ts'
import { aggregatorUser } from './remote-discovery.ts'
import type { RemoteService } from './remote-service.ts'

export interface ServiceCheckOptions {
  readonly remote: RemoteService
  readonly spec: ServiceSpec
  readonly reader: Pick<ObjectReader, 'get'>
  /** Whether the service is resolved outside the cluster, so that `reader` has no objects for it. */
  readonly isExternal: boolean
  /** Number of attempts; each may reach another endpoint. */
  readonly attempts: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Timeout of kube-apiserver's client. */
const attemptMs = 5_000

/** Checks whether requests can be proxied: the service listens, has endpoints, and serves discovery. */
export async function checkService(options: ServiceCheckOptions): Promise<AvailabilityStatus> {
  const { attempts, isExternal, reader, remote, spec } = options
  const problem = remote.inProcess || isExternal ? undefined : validateServiceBackend(spec, reader)
  if (problem !== undefined) return problem
  for (let attempt = 1; ; attempt++) {
    const problem = await attemptCheck(options)
    if (problem === undefined) return passed
    if (attempt >= attempts || options.signal.aborted) return failedCheck(problem)
  }
}

/** @returns the failure message of kube-apiserver; undefined on success. */
async function attemptCheck({ clock, remote, signal, spec }: ServiceCheckOptions): Promise<string | undefined> {
  const { group = '', version = '' } = spec
  const error = new Error('context deadline exceeded (Client.Timeout exceeded while awaiting headers)')
  const deadline = createDeadline({ clock, ms: attemptMs, parent: signal, error })
  let url: string | undefined
  try {
    const probe = await remote.probe(groupVersionPath(group, version), { user: aggregatorUser, signal: deadline.signal })
    url = probe.url
    const response = await probe.response
    // Only the status matters; the body is discarded.
    if (response.body.kind === 'stream') await response.body.stream[Symbol.asyncIterator]().return?.(undefined)
    if (response.status >= 200 && response.status <= 299) return undefined
    return `failing or missing response from ${url}: bad status from ${url}: ${response.status}`
  } catch (failure) {
    const reason = deadline.isExceeded ? error.message : failure instanceof Error ? failure.message : String(failure)
    return url === undefined ? reason : `failing or missing response from ${url}: Get ${JSON.stringify(url)}: ${reason}`
  } finally {
    deadline.release()
  }
}
