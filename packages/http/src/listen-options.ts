import { HttpError } from './http-error.ts'
import type { ListenOptions, ServerLike } from './interfaces.ts'

/** Checks the arguments of `listen`, which callers without types may have wrong. @throws HttpError `InvalidOption` */
export function validateOptions(apiServer: ServerLike | undefined, options: Partial<ListenOptions> | undefined): void {
  if (typeof apiServer?.handle !== 'function') throw invalid('the server must have a function named handle')
  const { port = 0, tls, goaway } = options ?? {}
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw invalid(`port must be an integer from 0 to 65535, not ${JSON.stringify(port)}`)
  const chance = goaway?.chance ?? 0
  if (!(chance >= 0 && chance <= 0.02)) throw invalid('goaway.chance must lie between 0 and 0.02')
  if (tls === false) return
  if (typeof tls !== 'object' || tls === null)
    throw invalid('tls is required: selfSigned(directory), { certificate, key }, or false for plain HTTP')
  if ('bun' in process.versions)
    throw invalid(
      'tls must be false: Bun hides the certificates of clients. Use Bun.serve({ fetch: createFetchHandler(server), tls })',
    )
  if ('directory' in tls || (typeof tls.certificate === 'string' && typeof tls.key === 'string')) return
  throw invalid('tls must have certificate and key as PEM, or come from selfSigned(directory)')
}

function invalid(message: string): HttpError {
  return new HttpError({ code: 'InvalidOption', message })
}
