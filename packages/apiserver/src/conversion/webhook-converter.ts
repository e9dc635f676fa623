import { type ClientConfig, type ObjectReader, WebhookClient, WebhookError } from '@krmkit/admission'
import type { ObjectConverter } from '@krmkit/kinds'
import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import { ApiError, type ApiObject, type Clock, type DeepReadonly, type Random } from '@krmkit/meta'
import type { ConversionOptions } from './interfaces.ts'
import { convertedObjects, groupVersionKind, restoreObject, reviewText, reviewVersion, UnprefixedError } from './review.ts'

/** Translates custom resources by the webhooks that their definitions name. */

type Definition = DeepReadonly<CustomResourceDefinition>
type Frozen = DeepReadonly<ApiObject>

export interface ConverterEnvironment {
  readonly clock: Clock
  readonly random: Random
  /** Where services are found. */
  readonly reader: Pick<ObjectReader, 'get'>
}

const defaultTimeoutMs = 30_000

/** Finds the converter of definitions. */
export class WebhookConverters {
  readonly #options: ConversionOptions
  readonly #environment: ConverterEnvironment
  readonly #client: WebhookClient

  constructor(reach: ConversionOptions, parts: ConverterEnvironment) {
    this.#options = reach
    this.#environment = parts
    const { transport, resolveService, credentialsFor } = reach
    this.#client = new WebhookClient({ clock: parts.clock, transport, resolveService, credentialsFor })
  }

  /** @returns undefined where versions differ by their names only. */
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
    const own = inProcessConverter(this.#options, target.client)
    let answers: readonly unknown[]
    try {
      if (own !== undefined) answers = await own(objects, apiVersion)
      else {
        const version = reviewVersion(versions)
        if (version === undefined) throw new Error('no supported conversion review versions')
        const uid = this.#environment.random.uuid()
        const body = reviewText({ uid, version, desiredAPIVersion: apiVersion, objects })
        answers = convertedObjects(await this.#post(target, body), { uid, version })
      }
    } catch (error) {
      throw new Error(`failed: ${reasonOf(error)}`)
    }
    if (answers.length !== objects.length) {
      throw new Error(`returned ${answers.length} objects, expected ${objects.length}`)
    }
    const alone = objects.length === 1
    return objects.map((original, index) =>
      restoreObject(answers[index] as never, { original, apiVersion, ...(alone ? {} : { index }) }),
    )
  }

  async #post(target: { client: ClientConfig }, body: string): Promise<Uint8Array> {
    const { timeoutMs = defaultTimeoutMs } = this.#options
    const endpoint = this.#client.endpoint(target, this.#environment.reader)
    if (endpoint.kind === 'function') throw new Error('the webhook is a function')
    const ended = new AbortController()
    const cancel = this.#environment.clock.setTimeout(() => ended.abort(new Error('context deadline exceeded')), timeoutMs)
    try {
      return await endpoint.post(body, { signal: ended.signal, timeoutSeconds: Math.ceil(timeoutMs / 1000) })
    } finally {
      cancel()
    }
  }
}

function inProcessConverter({ inProcess: own = {} }: ConversionOptions, { url, service }: ClientConfig) {
  const address =
    service === undefined || service === null
      ? (url ?? '')
      : `https://${service.name}.${service.namespace}.svc:${service.port ?? 443}${service.path ?? '/'}`
  return Object.hasOwn(own, address) ? own[address] : undefined
}

const prefixes = ['failed to call webhook: ', 'could not get REST client: ']

/** Calls are named by whoever makes them. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof WebhookError)) return message
  const prefix = prefixes.find((each) => message.startsWith(each)) ?? ''
  return message.slice(prefix.length)
}

/** What clients are told: an error of the server without a reason, as on a stock server. */
function conversionError({ apiVersion, kind }: Frozen, error: unknown): ApiError {
  const why = error instanceof Error ? error.message : String(error)
  return new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: error instanceof UnprefixedError ? why : `conversion webhook for ${groupVersionKind(apiVersion, kind)} ${why}`,
    code: 500,
  })
}
