import type { ObjectReader } from '@krmkit/admission'
import { type ClientConfig, WebhookClient, WebhookError } from '@krmkit/admission/webhooks'
import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import type { ObjectConverter } from '@krmkit/kinds/custom-resources'
import { ApiError, type ApiObject, type Clock, type DeepReadonly, type Random } from '@krmkit/meta'
import { createTurns, startWork, type Work } from '@krmkit/meta/work'
import { createDeadline } from '../request/deadline.ts'
import type { ConversionOptions } from './interfaces.ts'
import {
  convertedObjectSteps,
  groupVersionKind,
  restoreObjectSteps,
  reviewTextSteps,
  reviewVersion,
  UnprefixedError,
} from './review.ts'

/** Converts custom resources by the webhooks of their definitions. */

type Definition = DeepReadonly<CustomResourceDefinition>
type Frozen = DeepReadonly<ApiObject>

export interface ConverterEnvironment {
  readonly clock: Clock
  readonly random: Random
  /** Reads the services that webhooks are reached by. */
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
    return async (objects, apiVersion) => {
      const [first] = objects
      if (first === undefined) return []
      try {
        return await this.#convert(objects, { apiVersion, target, versions })
      } catch (error) {
        throw conversionError(first, error)
      }
    }
  }

  async #convert(
    objects: readonly Frozen[],
    { apiVersion, target, versions }: { apiVersion: string; target: { client: ClientConfig }; versions: readonly string[] },
  ): Promise<readonly ApiObject[]> {
    const local = inProcessConverter(this.#options, target.client)
    let converted: readonly unknown[]
    try {
      if (local !== undefined) converted = await local(objects, apiVersion)
      else {
        const version = reviewVersion(versions)
        if (version === undefined) throw new Error('no supported conversion review versions')
        const uid = this.#environment.random.uuid()
        const review = { uid, version, desiredAPIVersion: apiVersion, objects }
        const body = await startWork(reviewTextSteps(review), this.#turns)
        const response = await this.#post(target, body)
        converted = await startWork(convertedObjectSteps(response, { uid, version }), this.#turns)
      }
    } catch (error) {
      throw new Error(`failed: ${reasonOf(error)}`)
    }
    if (converted.length !== objects.length) {
      throw new Error(`returned ${converted.length} objects, expected ${objects.length}`)
    }
    return startWork(restoreSteps(converted, objects, apiVersion), this.#turns)
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

function* restoreSteps(converted: readonly unknown[], originals: readonly Frozen[], apiVersion: string): Work<ApiObject[]> {
  const restored: ApiObject[] = []
  for (const [index, original] of originals.entries()) {
    const expected = { original, apiVersion, ...(originals.length === 1 ? {} : { index }) }
    restored.push(yield* restoreObjectSteps(converted[index] as never, expected))
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

/** Like the stock server: status 500 without a reason. */
function conversionError({ apiVersion, kind }: Frozen, error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof UnprefixedError) return ApiError.withoutReason(500, message)
  return ApiError.withoutReason(500, `conversion webhook for ${groupVersionKind(apiVersion, kind)} ${message}`)
}
