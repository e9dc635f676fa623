import { type Clock, systemClock } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { parseAccept } from '../media/negotiation.ts'
import { parseQuery, text } from '../request/query.ts'
import type { Publisher, PublisherOptions } from './publisher.ts'
import { headerText, type RequestHeaders, relativeUrl, serveDocument } from './serve-document.ts'

/**
 * `/openapi/v2` and `/openapi/v3`: the served resources as OpenAPI documents. Each document is built on first request, in short slices, and
 * cached until the resources that it describes change. The first request also loads the code that builds documents.
 */

export interface OpenApiOptions extends PublisherOptions {
  /** Clock of `Last-Modified` and `Expires`. Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
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
  /** @returns undefined for paths other than `/openapi/v2` and those below `/openapi/v3`. */
  serve(request: OpenApiRequest): Promise<ApiResponse> | undefined
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const clock = options.clock ?? systemClock
  const atStart = options.resources()
  let loading: Promise<Publisher> | undefined
  const loaded = (): Promise<Publisher> => {
    loading ??= import('./publisher.ts').then(({ Publisher }) => new Publisher(options, { clock, atStart }))
    return loading
  }
  return {
    serve({ path, query, headers }) {
      if (path === '/openapi/v2') return loaded().then((publisher) => serveV2(publisher, headers))
      if (path === '/openapi/v3') return loaded().then((publisher) => serveIndex(publisher, headers))
      if (!path.startsWith('/openapi/v3/')) return undefined
      const name = path.slice('/openapi/v3/'.length)
      const hash = text(parseQuery(query), 'hash') ?? ''
      return loaded().then((publisher) => serveV3(publisher, { name, hash, headers, clock }))
    },
  }
}

/** Media subtypes of each form: first the one in responses, then the one that protobuf clients send. */
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
  const document = await publisher.v3(at.name, form ?? 'json')
  if (document === undefined) return { status: 404, headers: {}, body: { kind: 'empty' } }
  if (form === undefined) return notAcceptable()
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
    const form = forms[version].find(([name]) => subtype === name || subtype === '*')
    if (form !== undefined) return form[1]
  }
  return undefined
}

function notAcceptable(): ApiResponse {
  return { status: 406, headers: { vary: 'Accept' }, body: { kind: 'empty' } }
}

/** Redirects to the current URL of a document that has changed since the index was read. */
function redirect(name: string, { etag, type }: { readonly etag: string; readonly type: string }): ApiResponse {
  const headers = { location: relativeUrl(name, etag), vary: 'Accept', etag: `"${etag}"`, 'content-type': type }
  return { status: 301, headers, body: { kind: 'empty' } }
}

function oneYearLater(now: number): string {
  const date = new Date(now)
  date.setUTCFullYear(date.getUTCFullYear() + 1)
  return date.toUTCString()
}
