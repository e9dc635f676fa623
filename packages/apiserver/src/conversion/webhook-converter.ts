import type { ObjectReader } from '@krmkit/admission'
import { type ClientConfig, WebhookClient, WebhookError } from '@krmkit/admission/webhooks'
import { createTurns, startWork, type Work } from '@krmkit/base/work'
import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import type { ObjectConverter } from '@krmkit/kinds/custom-resources'
import { ApiError, type ApiObject, type Clock, type DeepReadonly, type JsonValue, type Random } from '@krmkit/meta'
import { createDeadline } from '../request/deadline.ts'
import type { ConversionOptions, InProcessConverter } from './interfaces.ts'
import { formatReview, groupVersionKind, readConvertedObjects, restoreObject, reviewVersion, UnprefixedError } from './review.ts'

/**
 * Converts custom resources by the webhooks of their definitions. Each review has one object, even for lists, because kube-apiserver
 * converts each object separately when decoding it from storage.
 */

type Definition = DeepReadonly<CustomResourceDefinition>
type Frozen = DeepReadonly<ApiObject>

export interface ConverterEnvironment {
  readonly clock: Clock
  readonly random: Random
  /** Reads the Service objects of webhooks. */
  readonly reader: Pick<ObjectReader, 'get'>
}

const defaultTimeoutMs = 30_000

/** Creates the converters of definitions. */
export class WebhookConverters {
  readonly #options: ConversionOptions
  readonly #environment: ConverterEnvironment
  readonly #client: WebhookClient
  readonly #turns = createTurns()

  constructor(options: ConversionOptions, environment: ConverterEnvironment) {
    this.#options = options
    this.#environment = environment
    const { transport, resolveService, resolveCredentials } = options
    this.#client = new WebhookClient({ clock: environment.clock, transport, resolveService, resolveCredentials })
  }

  /** @returns undefined for the conversion strategy `None`. */
  converterOf({ spec }: Definition): ObjectConverter | undefined {
    if (spec.conversion?.strategy !== 'Webhook') return undefined
    const { webhook } = spec.conversion
    const client = (webhook?.clientConfig ?? {}) as ClientConfig
    const target = { client }
    const versions = webhook?.conversionReviewVersions ?? []
    return async (objects, apiVersion, { stored = false } = {}) => {
      const local = inProcessConverter(this.#options, client)
      if (local !== undefined) return this.#named(objects, () => this.#convertInProcess(local, objects, apiVersion))
      const request = { apiVersion, target, versions, stored }
      return inOrder(objects, (object) => this.#named([object], () => this.#convert(object, request)))
    }
  }

  /** Runs a conversion whose errors name the kind of the first object. */
  async #named<T>([first]: readonly Frozen[], run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      throw first === undefined ? error : conversionError(first, error)
    }
  }

  async #convertInProcess(
    converter: InProcessConverter,
    objects: readonly Frozen[],
    apiVersion: string,
  ): Promise<readonly ApiObject[]> {
    if (objects.length === 0) return []
    let converted: readonly unknown[]
    try {
      converted = await converter(objects, apiVersion)
    } catch (error) {
      throw new Error(`failed: ${reasonOf(error)}`)
    }
    requireCount(converted, objects.length)
    return startWork(restoreAll(converted, objects, apiVersion), this.#turns)
  }

  async #convert(original: Frozen, { apiVersion, target, versions, stored }: ReviewParts): Promise<ApiObject> {
    const uid = this.#environment.random.uuid()
    let converted: readonly JsonValue[]
    try {
      const version = reviewVersion(versions)
      if (version === undefined) throw new Error('no supported conversion review versions')
      const object = stored ? withoutResourceVersion(original) : original
      const review = { uid, version, desiredAPIVersion: apiVersion, objects: [object] }
      const body = await startWork(formatReview(review), this.#turns)
      const response = await this.#post(target, body)
      converted = await startWork(readConvertedObjects(response, { uid, version }), this.#turns)
    } catch (error) {
      throw new Error(`failed: ${reasonOf(error)}`)
    }
    requireCount(converted, 1)
    return startWork(restoreObject(converted[0] as JsonValue, { original, apiVersion }), this.#turns)
  }

  async #post(target: { client: ClientConfig }, body: string): Promise<Uint8Array> {
    const { timeoutMs = defaultTimeoutMs } = this.#options
    const endpoint = this.#client.endpoint(target, this.#environment.reader)
    if (endpoint.kind === 'function') throw new Error('the webhook is a function')
    const deadline = createDeadline({ clock: this.#environment.clock, ms: timeoutMs })
    try {
      return await endpoint.post(body, { signal: deadline.signal, timeoutSeconds: Math.ceil(timeoutMs / 1000) })
    } finally {
      deadline.release()
    }
  }
}

interface ReviewParts {
  readonly apiVersion: string
  readonly target: { readonly client: ClientConfig }
  readonly versions: readonly string[]
  readonly stored: boolean
}

function withoutResourceVersion({ metadata, ...object }: Frozen): Frozen {
  const { resourceVersion: _, ...rest } = metadata
  return { ...object, metadata: rest }
}

/** @throws Error */
function requireCount({ length }: readonly unknown[], expected: number): void {
  if (length !== expected) throw new Error(`returned ${length} objects, expected ${expected}`)
}

/** Maximum number of concurrent reviews for one list. */
const concurrentReviews = 8

/**
 * Maps the items, a few at a time. After a failure, no further item is started.
 *
 * @throws the failure of the first item that failed, in the order of the items
 */
async function inOrder<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const mapped: R[] = []
  const failures = new Map<number, unknown>()
  let next = 0
  const work = async () => {
    while (next < items.length && failures.size === 0) {
      const index = next++
      try {
        mapped[index] = await map(items[index] as T)
      } catch (error) {
        failures.set(index, error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrentReviews, items.length) }, work))
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()))
  return mapped
}

function* restoreAll(converted: readonly unknown[], originals: readonly Frozen[], apiVersion: string): Work<ApiObject[]> {
  const restored: ApiObject[] = []
  for (const [index, original] of originals.entries()) {
    const expected = { original, apiVersion, ...(originals.length === 1 ? {} : { index }) }
    restored.push(yield* restoreObject(converted[index] as never, expected))
    yield
  }
  return restored
}

function inProcessConverter({ inProcess: converters = {} }: ConversionOptions, { url, service }: ClientConfig) {
  const address =
    service === undefined || service === null
      ? (url ?? '')
      : `https://${service.name}.${service.namespace}.svc:${service.port ?? 443}${service.path ?? '/'}`
  return Object.hasOwn(converters, address) ? converters[address] : undefined
}

const prefixes = ['failed to call webhook: ', 'could not get REST client: ']

/** The message without the prefix of the webhook client: the caller names the webhook itself. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof WebhookError)) return message
  const prefix = prefixes.find((each) => message.startsWith(each)) ?? ''
  return message.slice(prefix.length)
}

/** The error of a failed conversion: as on kube-apiserver, status 500 without a reason. */
function conversionError({ apiVersion, kind }: Frozen, error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof UnprefixedError) return ApiError.withoutReason(500, message)
  return ApiError.withoutReason(500, `conversion webhook for ${groupVersionKind(apiVersion, kind)} ${message}`)
}
