import { type Duplex, pipeline, Readable } from 'node:stream'
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib'
import type { ApiResponse } from '@krmkit/protocol'
import { HtmlRewriter } from './html-rewriter.ts'

type Chunks = AsyncIterable<Uint8Array>

const codecs: ReadonlyMap<string, { readonly decode: () => Duplex; readonly encode: () => Duplex }> = new Map([
  ['gzip', { decode: createGunzip, encode: createGzip }],
  ['deflate', { decode: createInflateRaw, encode: createDeflateRaw }],
])

/**
 * The response of a page with rewritten URLs, as a stream: nothing is buffered but the tag at hand. Responses of other media types and
 * unknown codings are returned as they are.
 */
export function withRewrittenLinks(response: ApiResponse, rewriteUrl: (url: string) => string): ApiResponse {
  const { headers, body } = response
  if (body.kind !== 'stream' || mediaType(headers['content-type']) !== 'text/html') return response
  const coding = String(headers['content-encoding'] ?? '')
  const codec = codecs.get(coding)
  if (codec === undefined && coding !== '') return response
  const { 'content-length': _, ...kept } = headers
  const decoded = codec === undefined ? body.stream : through(body.stream, codec.decode())
  const rewritten = rewrittenChunks(decoded, new HtmlRewriter(rewriteUrl))
  return {
    ...response,
    headers: kept,
    body: { kind: 'stream', stream: codec === undefined ? rewritten : through(rewritten, codec.encode()) },
  }
}

function mediaType(header: string | readonly string[] | undefined): string {
  return ([header ?? ''].flat()[0] ?? '').split(';')[0]?.trim() ?? ''
}

/** The output of a coder whose input are the chunks. An error of either ends both. */
function through(chunks: Chunks, coder: Duplex): Chunks {
  // The reader of the coder gets the error.
  pipeline(Readable.from(chunks, { objectMode: false }), coder, () => undefined)
  return coder
}

/** Not a generator: its `return` would wait for the pending chunk. */
function rewrittenChunks(chunks: Chunks, rewriter: HtmlRewriter): Chunks {
  return {
    [Symbol.asyncIterator]() {
      const iterator = chunks[Symbol.asyncIterator]()
      let ended = false
      return {
        async next() {
          while (!ended) {
            const { done, value } = await iterator.next()
            ended = done === true
            const text = ended ? rewriter.end() : rewriter.write(Buffer.from(value as Uint8Array).toString('latin1'))
            if (text !== '') return { done: false as const, value: Buffer.from(text, 'latin1') }
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
