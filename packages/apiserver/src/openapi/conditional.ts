import type { ApiResponse } from '../interfaces.ts'
import type { PublishedDocument } from './published-document.ts'

/** Serves a document to a client that may have it already and may understand gzip. */

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** Smaller answers are not worth compressing. */
const minGzipBytes = 1400

export async function serveDocument(
  document: PublishedDocument,
  options: {
    readonly requestHeaders: RequestHeaders
    readonly contentType: string
    readonly headers: Readonly<Record<string, string>>
  },
): Promise<ApiResponse> {
  const { requestHeaders } = options
  const vary = [...(options.headers.vary === undefined ? [] : [options.headers.vary]), 'Accept-Encoding'].join(', ')
  const headers = { ...options.headers, vary, etag: `"${document.etag}"`, 'last-modified': document.lastModified }
  if (hasIt(first(requestHeaders['if-none-match']), document.etag)) return { status: 304, headers, body: { kind: 'empty' } }
  const typed = { ...headers, 'content-type': options.contentType }
  if (document.bytes.length < minGzipBytes || !acceptsGzip(first(requestHeaders['accept-encoding']))) {
    return { status: 200, headers: typed, body: { kind: 'bytes', bytes: document.bytes } }
  }
  return {
    status: 200,
    headers: { ...typed, 'content-encoding': 'gzip' },
    body: { kind: 'bytes', bytes: await document.gzipped() },
  }
}

export function first(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' ? header : (header?.join(',') ?? '')
}

/** Entity tags are compared weakly: whether they were marked as weak does not matter. */
function hasIt(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false
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
