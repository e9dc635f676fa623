import type { ApiResponse } from '@krmkit/protocol'
import type { PublishedDocument } from './published-document.ts'

/** Serves a document with conditional requests and gzip. */

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The URL of the document of a group version or root path with this entity tag. */
export function relativeUrl(name: string, etag: string): string {
  return `/openapi/v3/${name}?hash=${etag}`
}

export async function serveDocument(
  document: PublishedDocument,
  options: {
    readonly requestHeaders: RequestHeaders
    readonly contentType: string
    readonly headers: Readonly<Record<string, string>>
  },
): Promise<ApiResponse> {
  const { requestHeaders } = options
  const { etag } = document
  const vary = [...(options.headers.vary === undefined ? [] : [options.headers.vary]), 'Accept-Encoding'].join(', ')
  const lastModified = new Date(document.changedMs).toUTCString()
  const tagged = { ...options.headers, vary, etag: `"${etag}"` }
  const headers = { ...tagged, 'last-modified': lastModified }
  if (!isExpected(requestHeaders, etag)) {
    return { status: 412, headers: { ...headers, 'content-type': options.contentType }, body: { kind: 'empty' } }
  }
  if (isUnchanged(requestHeaders, document)) return { status: 304, headers: tagged, body: { kind: 'empty' } }
  const typed = { ...headers, 'content-type': options.contentType }
  const gzipped = acceptsGzip(headerText(requestHeaders['accept-encoding'])) ? await document.gzipped() : undefined
  if (gzipped === undefined) return { status: 200, headers: typed, body: { kind: 'bytes', bytes: await document.bytes() } }
  return { status: 200, headers: { ...typed, 'content-encoding': 'gzip' }, body: { kind: 'bytes', bytes: gzipped } }
}

export function headerText(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' ? header : (header?.join(',') ?? '')
}

/** Whether the client has the document: by `If-None-Match`, or without it by `If-Modified-Since`, which has a resolution of one second. */
function isUnchanged(headers: RequestHeaders, { changedMs, etag }: PublishedDocument): boolean {
  const tags = headerText(headers['if-none-match'])
  if (tags !== '') return matchesTag(tags, etag)
  const since = Date.parse(headerText(headers['if-modified-since']))
  return !Number.isNaN(since) && Math.floor(changedMs / 1000) * 1000 <= since
}

/** Whether the document is one that `If-Match` names. The comparison is strong: weak tags match nothing. */
function isExpected(headers: RequestHeaders, etag: string): boolean {
  const tags = headerText(headers['if-match'])
  return tags === '' || tags.split(',').some((tag) => tag.trim() === '*' || tag.trim() === `"${etag}"`)
}

/** Whether `If-None-Match` contains an entity tag, by weak comparison. */
function matchesTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((each) => {
    const tag = each.trim().replace(/^W\//, '')
    return tag === '*' || tag === `"${etag}"`
  })
}

function acceptsGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some((each) => {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
