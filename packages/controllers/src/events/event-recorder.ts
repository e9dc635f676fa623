import { resourceType } from '@krmkit/client'
import { type ApiObject, type DeepReadonly, formatTime, type NamingProfile } from '@krmkit/meta'
import { formatMicroTime } from '@krmkit/meta/time'
import { ignoreCreateConflict, ignoreReasons } from '../framework/api-errors.ts'
import type { ControllerContext } from '../interfaces.ts'
import { EventCorrelator, type Observation } from './event-correlator.ts'

/** An event to record about an object. */
export interface RecordedEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** Only for events of `events.k8s.io`. */
  readonly action?: string
  /** Part of the object: `spec.containers{web}`. */
  readonly fieldPath?: string
}

export interface EventRecorderOptions {
  readonly component: string
  /** The node of the component, for core events. */
  readonly host?: string
  /** `core`: v1 events with a count; `events`: those of `events.k8s.io` with a series. */
  readonly api: 'core' | 'events'
}

interface Event extends ApiObject {
  [member: string]: unknown
}

const coreEvents = resourceType<Event>({ group: '', version: 'v1', resource: 'events', kind: 'Event' })

function newEvents({ apiDomain }: NamingProfile) {
  return resourceType<Event>({ group: `events.${apiDomain}`, version: 'v1', resource: 'events', kind: 'Event' })
}

/** Equal events of one object that are at most this far apart form one series. */
const repeatMs = 6 * 60_000
const maxRemembered = 4096
const nanosecondsPerMs = 1_000_000

interface EventLocation {
  readonly name: string
  readonly namespace: string
}

interface Remembered {
  readonly name: string
  readonly namespace: string
  count: number
  lastAtMs: number
}

/** Writes events. A failed write is passed to `onError` and has no other effect. */
export class EventRecorder {
  readonly #context: ControllerContext
  readonly #options: EventRecorderOptions
  readonly #correlator: EventCorrelator
  readonly #remembered = new Map<string, Remembered>()

  constructor(context: ControllerContext, options: EventRecorderOptions) {
    this.#context = context
    this.#options = options
    this.#correlator = new EventCorrelator(context.clock)
  }

  /** Records an event of an object; a repeated event increases the count of the first one. */
  async record(object: DeepReadonly<ApiObject>, event: RecordedEvent): Promise<void> {
    const { onError, signal } = this.#context
    try {
      await (this.#options.api === 'core' ? this.#recordCore(object, event) : this.#recordSeries(object, event))
    } catch (error) {
      if (!signal.aborted) onError(error)
    }
  }

  async #recordCore(object: DeepReadonly<ApiObject>, event: RecordedEvent): Promise<void> {
    const { client, clock, signal } = this.#context
    const { type, reason, message, fieldPath = '' } = event
    const { namespace, name: objectName, uid } = object.metadata
    const observed = this.#correlator.observe({
      object: JSON.stringify([object.kind, namespace, objectName, uid]),
      ...{ type, reason, message, fieldPath },
    })
    if (observed === undefined) return
    const name = observed.name ?? this.#nameOf(object)
    const location = { name, namespace: namespace || 'default' }
    if (observed.name !== undefined) {
      const patch = { count: observed.count, lastTimestamp: formatTime(clock.now()), message: observed.message }
      const request = client.patch(coreEvents, name, { namespace: location.namespace, type: 'merge', patch, signal })
      if ((await ignoreReasons(request, ['NotFound'])) !== undefined) return
    }
    await ignoreCreateConflict(client.create(coreEvents, this.#coreEvent(object, event, { observed, location }), { signal }))
    observed.named(name)
  }

  #coreEvent(
    object: DeepReadonly<ApiObject>,
    { type, reason, fieldPath }: RecordedEvent,
    { observed, location }: { readonly observed: Observation; readonly location: EventLocation },
  ) {
    const { component, host } = this.#options
    const { message, isCombined, count, firstAtMs } = observed
    const source = { component, ...(host === undefined ? {} : { host }) }
    return {
      metadata: location,
      involvedObject: reference(object, fieldPath),
      ...{ type, reason, message, source, count },
      reportingComponent: isCombined ? '' : component,
      reportingInstance: isCombined ? '' : (host ?? ''),
      firstTimestamp: formatTime(firstAtMs),
      lastTimestamp: formatTime(this.#context.clock.now()),
    }
  }

  async #recordSeries(object: DeepReadonly<ApiObject>, event: RecordedEvent): Promise<void> {
    const { clock } = this.#context
    const { type, reason, message, fieldPath = '' } = event
    const key = JSON.stringify([object.metadata.uid, type, reason, message, fieldPath])
    const known = this.#remembered.get(key)
    if (known !== undefined && clock.now() - known.lastAtMs <= repeatMs && (await this.#repeat(known))) return
    const location = { name: this.#nameOf(object), namespace: object.metadata.namespace || 'default' }
    this.#remember(key, { ...location, count: 1, lastAtMs: clock.now() })
    await ignoreCreateConflict(this.#createSeries(object, event, location))
  }

  #createSeries(object: DeepReadonly<ApiObject>, event: RecordedEvent, metadata: EventLocation) {
    const { client, clock, profile, signal } = this.#context
    const { component, host } = this.#options
    const { type, reason, message, action = '', fieldPath } = event
    const reporting = { reportingController: component, reportingInstance: `${component}-${host ?? 'simulated'}` }
    const regarding = reference(object, fieldPath)
    const body = { metadata, regarding, type, reason, action, note: message.slice(0, maxNoteLength), ...reporting }
    const eventTime = formatMicroTime(clock.now())
    return client.create(newEvents(profile), { ...body, eventTime }, { signal })
  }

  /** @returns false when the event no longer exists */
  async #repeat(known: Remembered): Promise<boolean> {
    const { client, clock, profile, signal } = this.#context
    known.count++
    known.lastAtMs = clock.now()
    const { name, namespace, count } = known
    const patch = { series: { count, lastObservedTime: formatMicroTime(clock.now()) } }
    const request = client.patch(newEvents(profile), name, { namespace, type: 'merge', patch, signal })
    return (await ignoreReasons(request, ['NotFound'])) !== undefined
  }

  #nameOf({ metadata }: DeepReadonly<ApiObject>): string {
    // A random fraction keeps names unique when several components record events of one object in the same millisecond.
    const [a = 0, b = 0, c = 0] = this.#context.random.bytes(3)
    const fraction = BigInt(((a << 16) | (b << 8) | c) % nanosecondsPerMs)
    const nanoseconds = BigInt(Math.trunc(this.#context.clock.now())) * BigInt(nanosecondsPerMs) + fraction
    return `${(metadata.name ?? '').slice(0, 230)}.${nanoseconds.toString(16)}`
  }

  #remember(key: string, entry: Remembered): void {
    this.#remembered.delete(key)
    this.#remembered.set(key, entry)
    if (this.#remembered.size <= maxRemembered) return
    for (const oldest of this.#remembered.keys()) {
      this.#remembered.delete(oldest)
      return
    }
  }
}

const maxNoteLength = 1024

function reference({ apiVersion, kind, metadata }: DeepReadonly<ApiObject>, fieldPath: string | undefined) {
  const { name, namespace, uid, resourceVersion } = metadata
  return { apiVersion, kind, name, namespace, uid, resourceVersion, ...(fieldPath ? { fieldPath } : {}) }
}
