import { ClientError } from '@krmkit/client'
import type { ApiObject, Clock, Status } from '@krmkit/meta'
import type { ApiBody, ApiResponse, Handler } from '@krmkit/protocol'
import type { TypeSource } from '@krmkit/schema'
import type { Fault } from './fault.ts'
import { checkFault, checkFaultOptions, checkWatchEnd, type FaultOptions, invalidFault } from './fault-check.ts'
import { expiredWatch, type FailFault, statusOf } from './fault-status.ts'
import { HeldEvents } from './held-events.ts'
import type { WatchRecord } from './ledger.ts'
import type { RandomFaults } from './random-faults.ts'
import type { RequestAttributes } from './request-attributes.ts'
import { checkMatch, type Match, matches } from './request-match.ts'
import { delayed, WatchControl, type WatchEnd, type WatchFault } from './watch-fault.ts'

interface PlannedFault {
  readonly match: Match
  readonly fault: Fault
  after: number
  times: number
}

interface ClassifiedRequest extends RequestAttributes {
  readonly user: string
  readonly isController: boolean
  /** Whether `cluster.client` sent the request, which random faults do not affect. */
  readonly isAdministrator: boolean
}

export type OpenWatchRecord = { -readonly [K in keyof WatchRecord]: WatchRecord[K] }

export interface ApplyOptions {
  /** Passes the request to the server. */
  readonly next: (signal: AbortSignal) => Promise<ApiResponse>
  /** Forwards the request to another server. */
  readonly redirect: (handle: Handler) => Promise<ApiResponse>
  readonly signal: AbortSignal
  /** Records the stream of a watch. */
  readonly watch?: OpenWatchRecord | undefined
  /** Wraps waits for the clock, so that they do not count as activity. */
  readonly suspend: <T>(wait: Promise<T>) => Promise<T>
}

/** The operations of the server that faults use. */
export interface FaultHost {
  readonly clock: Clock
  readonly types: TypeSource
  /** Newest revision of the store. */
  revision(): number
  /** Drops the history of the store. */
  compact(): Promise<void>
  /** Starts a server with the current state. */
  freeze(): Promise<{ readonly handle: Handler }>
}

/** Holds requests and watch events until they are released. */
export interface Gate {
  hold(label: string): Promise<void>
  /** Resolves when nothing is held any more; undefined when nothing is held. */
  stepped(): Promise<void> | undefined
}

/** Abort reason of a dropped connection. A shared object is cheaper than the default reason. */
const connectionDropped = new ClientError({ code: 'Unreachable', message: 'a fault of the test dropped the connection' })

/** Wraps a handler for adapters, which drop the connection when a request rejects with an AbortError. */
export function droppingConnections(handle: Handler): Handler {
  return (request) =>
    handle(request).catch((error: unknown) => {
      throw error === connectionDropped ? new DOMException(connectionDropped.message, 'AbortError') : error
    })
}

interface OpenWatch {
  readonly request: ClassifiedRequest
  readonly control: WatchControl
}

interface Freeze {
  readonly match: Match
  readonly server: Promise<{ readonly handle: Handler }>
}

/** Injects faults. Requests and watches of controllers are not affected unless `user` names them. */
export class Faults {
  /** Absent: nothing is held. */
  gate: Gate | undefined
  readonly #host: FaultHost
  readonly #random: RandomFaults | undefined
  readonly #watches = new Set<OpenWatch>()
  #planned: PlannedFault[] = []
  #frozen: Freeze[] = []
  #lastState: Freeze['server'] | undefined
  readonly #holds: { readonly match: Match; readonly held: HeldEvents }[] = []
  #watchCount = 0
  /** Users of watches whose events cannot be held. */
  readonly #plainWatchers = new Set<string>()

  constructor(host: FaultHost, random?: RandomFaults) {
    this.#host = host
    this.#random = random
  }

  /** Seed of the random faults; undefined without them. */
  get seed(): number | undefined {
    return this.#random?.seed
  }

  /**
   * Plans a fault for the next matching request.
   *
   * @returns a function that cancels it
   * @throws TestingError `InvalidFault`, `InvalidOption`
   */
  next(match: Match, fault: Fault, options: FaultOptions = {}): () => void {
    checkMatch(match)
    const { times = 1, after = 0 } = checkFaultOptions(options)
    checkFault(match, fault)
    const planned: PlannedFault = { match, fault, times, after }
    this.#planned.push(planned)
    return () => {
      this.#planned = this.#planned.filter((each) => each !== planned)
    }
  }

  /** Interrupts matching open watches, like a lost connection. @returns their number */
  dropWatches(match: Match = {}): number {
    return this.endWatches(match, 'dropped')
  }

  /** Ends matching open watches. @returns their number */
  endWatches(match: Match, how: WatchEnd): number {
    checkMatch(match)
    checkWatchEnd(how)
    const matching = [...this.#watches].filter(({ request }) => !request.isController && matches(match, request))
    for (const { control } of matching) control.end(how)
    return matching.length
  }

  /**
   * Answers matching reads from the current state, like a server with a lagging cache, until the returned function is
   * called. Watches are not affected.
   */
  freezeReads(match: Match = {}): () => void {
    checkMatch(match)
    const freeze = { match, server: this.#host.freeze() }
    freeze.server.catch(() => undefined)
    this.#frozen.push(freeze)
    return () => {
      this.#frozen = this.#frozen.filter((each) => each !== freeze)
    }
  }

  /**
   * Holds the events of matching watches. Watches of controllers are held only if `user` names them, in a fork before its
   * first write.
   *
   * @param settle resolves when the effects of an event have ended
   */
  holdWatches(match: Match, settle: () => Promise<void>): HeldEvents {
    checkMatch(match)
    const verbs = match.verb === undefined ? [] : [match.verb].flat()
    if (verbs.some((verb) => verb !== 'watch'))
      throw invalidFault(`only watches have events, but the verb is ${verbs.join(', ')}`)
    if (match.user !== undefined && this.#plainWatchers.has(match.user))
      throw invalidFault('the watches of the controllers are open already: hold those of a fork, before its first write')
    const held = new HeldEvents({ settle, onRelease: () => this.#holds.splice(this.#holds.indexOf(hold), 1) })
    const hold = { match, held }
    this.#holds.push(hold)
    return held
  }

  /** Drops the history of the store: earlier continue tokens and versions expire. */
  compact(): Promise<void> {
    return this.#host.compact()
  }

  /** Number of faults that have not occurred yet. */
  get pending(): number {
    return this.#planned.reduce((sum, { times }) => sum + times, 0)
  }

  /** Whether a client other than the controllers watches any of the resources. */
  isWatched(resources: readonly string[]): boolean {
    for (const { request } of this.#watches) if (!request.isController && resources.includes(request.resource)) return true
    return false
  }

  /** Cancels all planned faults and stale reads, and delivers held events. */
  clear(): void {
    for (const { held } of [...this.#holds]) held.release()
    this.#planned = []
    this.#frozen = []
    this.#lastState = undefined
  }

  /** Called by the server: sends a request with its fault, if any. */
  async apply(request: ClassifiedRequest, options: ApplyOptions): Promise<ApiResponse> {
    if (this.gate !== undefined && !request.isController) await options.suspend(this.gate.hold(describe(request)))
    const fault = this.#takeFault(request)
    if (fault === undefined) return this.#send(request, options)
    if ('fail' in fault) {
      if (fault.afterWrite === true) await options.next(options.signal)
      return failedResponse(fault, statusOf(fault, { ...request, revision: this.#host.revision() }))
    }
    if ('watch' in fault) return this.#watch(request, options, fault.watch)
    if ('stale' in fault) return this.#stale(options)
    if ('delayMs' in fault || 'compact' in fault) {
      if ('compact' in fault) await this.#host.compact()
      else await options.suspend(delayed(fault.delayMs, { clock: this.#host.clock, signal: options.signal }))
      return this.#send(request, options)
    }
    if ('lose' in fault) await options.next(options.signal)
    throw connectionDropped
  }

  #takeFault(request: ClassifiedRequest): Fault | undefined {
    for (const planned of this.#planned) {
      if (request.isController && planned.match.user === undefined) continue
      if (!matches(planned.match, request)) continue
      if (planned.after > 0) {
        planned.after--
        continue
      }
      if (--planned.times === 0) this.#planned = this.#planned.filter((each) => each !== planned)
      return planned.fault
    }
    return this.#takeRandom(request)
  }

  #takeRandom(request: ClassifiedRequest): Fault | undefined {
    if (this.#random === undefined) return undefined
    const { match } = this.#random
    const isSpared = match?.user === undefined && (request.isController || request.isAdministrator)
    return isSpared || (match !== undefined && !matches(match, request)) ? undefined : this.#random.take(request)
  }

  async #send(request: ClassifiedRequest, options: ApplyOptions): Promise<ApiResponse> {
    if (request.verb === 'watch') {
      const isPlain = request.isController && this.gate === undefined && this.#holdOf(request) === undefined
      if (!isPlain) return this.#watch(request, options, {})
      this.#plainWatchers.add(request.user)
      return options.next(options.signal)
    }
    const freeze =
      this.#frozen.length === 0 || (request.verb !== 'get' && request.verb !== 'list')
        ? undefined
        : this.#frozen.find(({ match }) => (!request.isController || match.user !== undefined) && matches(match, request))
    return freeze === undefined ? options.next(options.signal) : options.redirect((await freeze.server).handle)
  }

  #holdOf(request: ClassifiedRequest): HeldEvents | undefined {
    if (this.#holds.length === 0) return undefined
    const isHeld = ({ match }: { readonly match: Match }) =>
      (!request.isController || match.user !== undefined) && matches(match, request)
    return this.#holds.find(isHeld)?.held
  }

  async #stale({ redirect }: ApplyOptions): Promise<ApiResponse> {
    const earlier = this.#lastState
    this.#lastState = earlier === undefined ? this.#host.freeze() : undefined
    return redirect((await (earlier ?? this.#lastState!)).handle)
  }

  /** Registers a watch for `endWatches`. */
  async #watch(request: ClassifiedRequest, options: ApplyOptions, fault: WatchFault): Promise<ApiResponse> {
    const { types, clock } = this.#host
    const label = `to watch ${++this.#watchCount} of ${request.resource} by ${request.user}`
    const { gate } = this
    const cut = new AbortController()
    const onAbort = () => cut.abort(connectionDropped)
    const watch: OpenWatch = {
      request,
      control: new WatchControl({
        fault,
        clock,
        signal: options.signal,
        expired: () => expiredWatch({ query: request.query, revision: this.#host.revision() }),
        dropped: () => connectionDropped,
        hold: (type, object) =>
          gate?.hold(`deliver ${type} ${nameIn(object())} ${label}`).then(() => true) ??
          this.#holdOf(request)?.hold(`${type} ${nameIn(object())} ${label}`, options.signal),
        onDelivered: () => {
          if (options.watch !== undefined) options.watch.events++
        },
        onEnd: () => {
          if (options.watch !== undefined) options.watch.endedAtMs = clock.now()
          unregister()
        },
      }),
    }
    const unregister = () => {
      this.#watches.delete(watch)
      options.signal.removeEventListener('abort', onAbort)
      cut.abort(connectionDropped)
    }
    options.signal.addEventListener('abort', onAbort, { once: true })
    if (options.signal.aborted) onAbort()
    this.#watches.add(watch)
    try {
      const response = await options.next(cut.signal)
      if (response.body.kind === 'stream') {
        const contentType = String(response.headers['content-type'] ?? '')
        return { ...response, body: watch.control.wrap(response.body, contentType, types) }
      }
      unregister()
      return response
    } catch (error) {
      unregister()
      throw error
    }
  }
}

function describe({ verb, resource, subresource, namespace, name, path, user }: ClassifiedRequest): string {
  if (resource === '') return `${verb} ${path} by ${user}`
  const full = subresource === '' ? resource : `${resource}/${subresource}`
  return `${verb} ${full} ${[namespace, name].filter((part) => part !== '').join('/')} by ${user}`.replace('  ', ' ')
}

function nameIn(object: unknown): string {
  const { kind = '', metadata } = object as Partial<ApiObject>
  return [kind, metadata?.name ?? ''].join(' ').trim()
}

function failedResponse({ fail: code }: FailFault, status: Status): ApiResponse {
  const body: ApiBody = { kind: 'bytes', bytes: new TextEncoder().encode(JSON.stringify({ ...status, code })) }
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  const { retryAfterSeconds } = status.details ?? {}
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
  return { status: code, headers, body }
}
