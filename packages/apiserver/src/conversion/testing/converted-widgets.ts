import type { ApiObject, JsonObject } from '@krmkit/meta'
import type { WebhookTransport } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'
import { readBodyText } from '../../aggregation/body-text.ts'
import { definitionsPath, widgetDefinition } from '../../custom-resources/testing/widgets.ts'
import { createApiServer, type EmbeddedServer } from '../../server/server.ts'
import type { ConversionOptions } from '../interfaces.ts'

/** A test server with a CustomResourceDefinition whose versions a webhook converts. */

const servers: EmbeddedServer[] = []

export async function closeServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close()))
}

// biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
export type Body = any
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
  query?: string,
) => Promise<Body>

export const url = 'https://hooks.example.com/convert'
export const group = 'g.example.com'

/** v1 has `spec.size`, v1beta1 has `size`. */
export function converted(object: Body, desired: string): ApiObject {
  const { spec, size, ...rest } = structuredClone(object) as Body
  const number = spec?.size ?? size
  return { ...rest, apiVersion: desired, ...(desired.endsWith('/v1') ? { spec: { size: number } } : { size: number }) }
}

export const schema = (properties: JsonObject) => ({ openAPIV3Schema: { type: 'object', properties } })
export const size = { type: 'integer' }

export function definition(stored: 'v1' | 'v1beta1' = 'v1', reviews: string[] = ['v1']): JsonObject {
  return widgetDefinition(
    [
      {
        name: 'v1',
        storage: stored === 'v1',
        schema: schema({ spec: { type: 'object', properties: { size } } }),
        selectableFields: [{ jsonPath: '.spec.size' }],
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
      { name: 'v1beta1', storage: stored === 'v1beta1', schema: schema({ size: { ...size, minimum: 1 } }) },
    ],
    { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url }, conversionReviewVersions: reviews } } },
  )
}

export const at = (version: string, name = '') =>
  `/apis/${group}/${version}/namespaces/default/widgets${name === '' ? '' : `/${name}`}`
export const widget = (name: string, members: JsonObject, version = 'v1beta1'): JsonObject => ({
  apiVersion: `${group}/${version}`,
  kind: 'Widget',
  metadata: { name },
  ...members,
})

export async function start(conversion: ConversionOptions, body: JsonObject = definition()) {
  const storage = memoryStorage()
  const server = await createApiServer({ storage, conversion })
  servers.push(server)
  const call: Call = async (method, path, given, headers = {}, query = '') => {
    const bytes = new TextEncoder().encode(given === undefined ? '' : JSON.stringify(given))
    const response = await server.handle({
      method,
      path,
      query,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: async () => bytes,
      peer: {},
      signal: new AbortController().signal,
    })
    if (response.body.kind === 'stream') return response.body.stream
    const text = await readBodyText(response, Number.POSITIVE_INFINITY)
    return text.startsWith('{') ? JSON.parse(text) : text
  }
  await call('POST', definitionsPath, body)
  for (let turn = 0; turn < 200 && (await call('GET', at('v1'))).kind !== 'WidgetList'; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  return { call, storage }
}

export function counting(calls: number[] = []): { reach: ConversionOptions; calls: number[] } {
  const reach = {
    inProcess: {
      [url]: (objects: readonly unknown[], desired: string) => {
        calls.push(objects.length)
        return objects.map((object) => converted(object, desired))
      },
    },
  }
  return { reach, calls }
}

/** A transport with a webhook; `answer` computes the response body from the request. */
export function remote(answer: (request: Body, review: Body) => unknown, paths: string[] = []): ConversionOptions {
  const transport: WebhookTransport = {
    open:
      () =>
      async ({ body, path }) => {
        paths.push(path)
        const review = JSON.parse(body) as Body
        const given = answer(review.request, review)
        const text = typeof given === 'string' ? given : JSON.stringify(given)
        return { status: 200, headers: { 'content-type': 'application/json' }, body: new TextEncoder().encode(text) }
      },
  }
  return { transport }
}

export const review = (version: string, response: unknown) => ({
  apiVersion: `apiextensions.k8s.io/${version}`,
  kind: 'ConversionReview',
  response,
})
export const success = (request: Body, convertedObjects: unknown[]) => ({
  uid: request.uid,
  result: { status: 'Success' },
  convertedObjects,
})
