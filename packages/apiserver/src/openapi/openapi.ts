import type { ResourceDefinition } from '@krmkit/kinds'
import { type Clock, type NamingProfile, systemClock } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { TypeSource } from '@krmkit/schema'
import { parseAccept } from '../encoding/negotiation.ts'
import type { CustomForm } from './published.ts'
import { Publisher, relativeUrl } from './publisher.ts'
import type { RemoteSource } from './remote-documents.ts'
import { headerText, type RequestHeaders, serveDocument } from './serve-document'

/**
 * `/openapi/v2` and `/openapi/v3`: what is served, as OpenAPI documents. Each is built when it is first asked for, in short slices,
 * and kept until the resources that it describes change.
 */

export interface OpenApiOptions {
  /** What is served now. The same array means nothing has changed; definitions are never changed in place. */
  readonly resources: () => readonly ResourceDefinition[]
  /** Types of the built-in kinds. */
  readonly types: TypeSource
  /** Version of the server, such as `v1.33.0`. */
  readonly version: string
  /** Whose name the documents bear. Default: the stock one. */
  readonly profile?: NamingProfile
  /** Default: the time of the system. */
  readonly clock?: Pick<Clock, 'now'>
  /**
   * The written schema of a resource that has one. Default: the schema that its type was read from, for every kind that is not
   * built in.
   */
  readonly customForm?: (definition: ResourceDefinition) => CustomForm | undefined
  /** The server issues service account tokens and publishes the keys. Default false. */
  readonly issuer?: boolean
  /** What other servers publish. Default: nothing. */
  readonly remote?: RemoteSource
}

export interface OpenApiRequest {
  /** Decoded path, without query. */
  readonly path: string
  /** Raw query. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: RequestHeaders
}

export interface OpenApi {
  /** @returns undefined for a path that does not lie below `/openapi/v2` or `/openapi/v3`. */
  serve(request: OpenApiRequest): Promise<ApiResponse> | undefined
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const clock = options.clock ?? systemClock
  const publisher = new Publisher(options, clock)
  return {
    serve({ path, query, headers }) {
      if (path === '/openapi/v2' || path === '/openapi/v2/') return serveV2(publisher, headers)
      if (path === '/openapi/v3' || path === '/openapi/v3/') return serveIndex(publisher, headers)
      if (!path.startsWith('/openapi/v3/')) return undefined
      const name = path.slice('/openapi/v3/'.length).replace(/\/$/, '')
      return serveV3(publisher, { name, hash: new URLSearchParams(query).get('hash') ?? '', headers, clock })
    },
  }
}

/** Names under which a form may be asked for: first the one that answers bear, then the one that clients of protobuf send. */
function formsOf(version: 'v2' | 'v3'): readonly (readonly [subtype: string, form: 'json' | 'protobuf'])[] {
  return [
    ['json', 'json'],
    [protobufType(version), 'protobuf'],
    [`com.github.proto-openapi.spec.${version}@v1.0+protobuf`, 'protobuf'],
  ]
}

function protobufType(version: 'v2' | 'v3'): string {
  return `com.github.proto-openapi.spec.${version}.v1.0+protobuf`
}

const forms = { v2: formsOf('v2'), v3: formsOf('v3') }

async function serveV2(publisher: Publisher, requestHeaders: RequestHeaders): Promise<ApiResponse> {
  const form = chooseForm(requestHeaders, 'v2')
  if (form === undefined) return notAcceptable()
  await publisher.ready()
  const document = await publisher.v2(form)
  return await serveDocument(document, { requestHeaders, contentType: contentType('v2', form), headers: { vary: 'Accept' } })
}

async function serveIndex(publisher: Publisher, requestHeaders: RequestHeaders): Promise<ApiResponse> {
  return await serveDocument(await publisher.index(), { requestHeaders, contentType: 'application/json', headers: {} })
}

async function serveV3(
  publisher: Publisher,
  at: { name: string; hash: string; headers: RequestHeaders; clock: Pick<Clock, 'now'> },
): Promise<ApiResponse> {
  const form = chooseForm(at.headers, 'v3')
  if (form === undefined) return notAcceptable()
  const document = publisher.v3(at.name, form)
  if (document === undefined) return { status: 404, headers: { vary: 'Accept' }, body: { kind: 'empty' } }
  const type = contentType('v3', form)
  if (at.hash !== '' && at.hash !== document.etag) return redirect(at.name, { etag: document.etag, type })
  const caching = at.hash === '' ? {} : { 'cache-control': 'public, immutable', expires: oneYearLater(at.clock.now()) }
  return await serveDocument(document, {
    requestHeaders: at.headers,
    contentType: type,
    headers: { vary: 'Accept', ...caching },
  })
}

function contentType(version: 'v2' | 'v3', form: 'json' | 'protobuf'): string {
  return `application/${form === 'json' ? 'json' : protobufType(version)}`
}

function chooseForm(headers: RequestHeaders, version: 'v2' | 'v3'): 'json' | 'protobuf' | undefined {
  const accept = headerText(headers.accept)
  for (const { type, subtype } of parseAccept(accept === '' ? '*/*' : accept)) {
    if (type !== 'application' && type !== '*') continue
    const found = forms[version].find(([name]) => subtype === name || subtype === '*')
    if (found !== undefined) return found[1]
  }
  return undefined
}

function notAcceptable(): ApiResponse {
  return { status: 406, headers: { vary: 'Accept' }, body: { kind: 'empty' } }
}

/** The document has changed since the index was read: it is now under another address. */
function redirect(name: string, { etag, type }: { readonly etag: string; readonly type: string }): ApiResponse {
  const headers = { location: relativeUrl(name, etag), vary: 'Accept', etag: `"${etag}"`, 'content-type': type }
  return { status: 301, headers, body: { kind: 'empty' } }
}

function oneYearLater(now: number): string {
  const date = new Date(now)
  date.setUTCFullYear(date.getUTCFullYear() + 1)
  return date.toUTCString()
}
