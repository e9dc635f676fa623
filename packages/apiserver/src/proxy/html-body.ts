import { latin1Bytes, latin1Text } from '@krmkit/base/bytes'
import { Pace, runPaced, type Turns } from '@krmkit/base/work'
import type { ApiResponse } from '@krmkit/protocol'
import { codedChunks } from '../media/compression.ts'
import { HtmlRewriter } from './html-rewriter.ts'

type Chunks = AsyncIterable<Uint8Array>

/** Compression formats by content coding. Like kube-apiserver, treats `deflate` as a raw stream without a zlib header. */
const formats: ReadonlyMap<string, CompressionFormat> = new Map([
  ['gzip', 'gzip'],
  ['deflate', 'deflate-raw'],
])

export interface PageOptions {
  /** Returns the replacement of a URL. */
  readonly rewriteUrl: (url: string) => string
  readonly turns: Turns
}

/**
 * Rewrites the URLs in an HTML response, as a stream: only the current tag is buffered. Responses of other media types or with unknown
 * codings are returned unchanged.
 */
export function withRewrittenLinks(response: ApiResponse, { rewriteUrl, turns }: PageOptions): ApiResponse {
  const { headers, body } = response
  if (body.kind !== 'stream' || mediaType(headers['content-type']) !== 'text/html') return response
  const coding = String(headers['content-encoding'] ?? '')
  const format = formats.get(coding)
  if (format === undefined && coding !== '') return response
  const { 'content-length': _, ...kept } = headers
  const decoded = format === undefined ? body.stream : codedChunks(body.stream, new DecompressionStream(format))
  const rewritten = rewrittenChunks(decoded, new HtmlRewriter(rewriteUrl), turns)
  return {
    ...response,
    headers: kept,
    body: { kind: 'stream', stream: format === undefined ? rewritten : codedChunks(rewritten, new CompressionStream(format)) },
  }
}

function mediaType(header: string | readonly string[] | undefined): string {
  return ([header ?? ''].flat()[0] ?? '').split(';')[0]?.trim() ?? ''
}

/** Rewrites the chunks of a page. Not written as a generator, because `return` of a generator would wait for the pending chunk. */
function rewrittenChunks(chunks: Chunks, rewriter: HtmlRewriter, turns: Turns): Chunks {
  return {
    [Symbol.asyncIterator]() {
      const iterator = chunks[Symbol.asyncIterator]()
      // One pace for all chunks, because reading chunks that have already been received does not end the turn.
      const pace = new Pace(turns)
      let ended = false
      return {
        async next() {
          while (!ended) {
            const { done, value } = await iterator.next()
            ended = done === true
            const text = ended ? rewriter.end() : await runPaced(rewriter.write(latin1Text(value as Uint8Array)), pace)
            if (text !== '') return { done: false as const, value: latin1Bytes(text) }
          }
          return { done: true as const, value: undefined }
        },
        async return() {
          ended = true
          await iterator.return?.(undefined)
          return { done: true as const, value: undefined }
        },
      }
    },
  }
}
