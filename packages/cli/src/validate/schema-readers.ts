import { type FileHandle, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { concatBytes, utf8Text } from '@krmkit/base/bytes'
import { createRemoteTransport } from '@krmkit/client'
import type { Transport, TransportResponse } from '@krmkit/protocol'
import { CliError, messageOf } from '../cli-error.ts'

/** Readers of the files of a catalog, with bounds on sizes and time. */

export interface SchemaReader {
  /** Reads a file; undefined: it does not exist. @throws Error when it cannot be read */
  readonly read: (path: string, options: { readonly signal?: AbortSignal | undefined }) => Promise<string | undefined>
  close(): Promise<void>
}

export interface SchemaReaderOptions {
  /** A folder or a URL, to which paths are appended. */
  readonly location: string
  /** Time for each file, in milliseconds. */
  readonly timeoutMs: number
}

/** The largest definitions of well-known projects are about 1 MiB. */
const maxSchemaBytes = 4 * 1024 * 1024
const maxTotalBytes = 128 * 1024 * 1024
const maxRedirects = 3

/** Reads files of a folder. */
export function createFolderReader({ location }: SchemaReaderOptions): SchemaReader {
  const total = new TotalSize()
  const folder = location === '' ? '.' : location
  return {
    async read(path) {
      let file: FileHandle
      try {
        file = await open(join(folder, path))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        // An absent folder is a mistake in the flag, not an empty catalog.
        await stat(folder)
        return undefined
      }
      try {
        const { size } = await file.stat()
        if (size > maxSchemaBytes) throw tooLarge(path)
        total.add(size)
        return await file.readFile('utf8')
      } finally {
        await file.close()
      }
    },
    async close() {},
  }
}

/**
 * Reads files over HTTP or HTTPS. When a server cannot be reached or does not respond in time, further files are not requested, so that a
 * run waits once.
 *
 * @throws CliError `InvalidFlag` for an invalid URL
 */
export function createUrlReader({ location, timeoutMs }: SchemaReaderOptions): SchemaReader {
  const base = URL.canParse(location) ? new URL(location.endsWith('/') ? location : `${location}/`) : undefined
  if (base === undefined || base.username !== '' || base.password !== '' || base.search !== '' || base.hash !== '') {
    const message = `--catalog ${location}: it must be a URL without credentials, query and fragment`
    throw new CliError({ code: 'InvalidFlag', message })
  }
  const total = new TotalSize()
  const transports = new Transports()
  let failure: Error | undefined
  return {
    async read(path, { signal }) {
      if (failure !== undefined) throw failure
      const timeout = AbortSignal.timeout(timeoutMs)
      const url = new URL(path, base)
      try {
        const response = await transports.get(url, signal === undefined ? timeout : AbortSignal.any([timeout, signal]))
        const bytes = await readBody(response, path)
        if (response.status === 404) return undefined
        if (response.status === 200) {
          total.add(bytes.length)
          return utf8Text(bytes)
        }
        throw new UnexpectedResponse(`${url.href} returns status ${response.status}`)
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof UnexpectedResponse) throw error
        failure = new Error(timeout.aborted ? `${url.href}: no complete response within ${timeoutMs / 1000} s` : messageOf(error))
        throw failure
      }
    },
    close: () => transports.close(),
  }
}

/** A response that says nothing about other files. */
class UnexpectedResponse extends Error {}

/** Kept connections by origin. */
class Transports {
  readonly #byOrigin = new Map<string, Transport>()

  /** Sends a GET and follows redirects, which keep HTTPS. The request carries no credentials. */
  async get(url: URL, signal: AbortSignal): Promise<TransportResponse> {
    let at = url
    for (let redirects = 0; ; redirects++) {
      const response = await this.#at(at.origin).send({
        method: 'GET',
        path: at.pathname,
        query: at.search.slice(1),
        headers: { accept: 'application/json, */*;q=0.5' },
        signal,
      })
      const { location } = response.headers
      if (response.status < 301 || response.status > 308 || typeof location !== 'string') return response
      await readBody(response, at.pathname)
      if (redirects === maxRedirects) throw new UnexpectedResponse(`${url.href} redirects more than ${maxRedirects} times`)
      const next = new URL(location, at)
      if (next.protocol !== 'https:' && next.protocol !== at.protocol)
        throw new UnexpectedResponse(`${url.href} redirects to ${next.protocol}//`)
      at = next
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byOrigin.values()].map((transport) => transport.close()))
  }

  #at(origin: string): Transport {
    const known = this.#byOrigin.get(origin)
    if (known !== undefined) return known
    const transport = createRemoteTransport({ server: origin })
    this.#byOrigin.set(origin, transport)
    return transport
  }
}

/** The size of all schemas of a run. */
class TotalSize {
  #bytes = 0

  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > maxTotalBytes)
      throw new UnexpectedResponse(`the schemas are larger than ${maxTotalBytes / 1024 / 1024} MiB`)
  }
}

async function readBody({ body }: TransportResponse, path: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > maxSchemaBytes) throw tooLarge(path)
    parts.push(part)
  }
  return concatBytes(parts)
}

function tooLarge(path: string): Error {
  return new UnexpectedResponse(`${path} is larger than ${maxSchemaBytes / 1024 / 1024} MiB`)
}
