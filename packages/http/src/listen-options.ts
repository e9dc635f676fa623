import { membersProblem, type OptionKinds, optionsProblem } from '@krmkit/base/arguments'
import { HttpError } from './http-error.ts'
import type { ListenLimits, ListenOptions, ServerLike } from './interfaces.ts'

export const defaultListenLimits: ListenLimits = {
  headerBytes: 1024 * 1024,
  headersTimeoutMs: 32_000,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 90_000,
  handshakeTimeoutMs: 10_000,
  concurrentStreams: 250,
  bodyWindowMs: 10_000,
  bodyBytesPerSecond: 500,
  pendingConnections: 4096,
  pendingConnectionsPerAddress: 512,
  connections: Number.POSITIVE_INFINITY,
}

const optionKinds: OptionKinds<ListenOptions> = {
  port: 'any',
  host: 'text',
  path: 'text',
  passed: 'object',
  tls: 'any',
  limits: 'object',
  graceMs: 'number',
  compression: 'flag',
  goaway: 'object',
  onError: 'function',
  onWarning: 'function',
}

/** Checks the arguments of `listen`, because untyped callers may pass invalid ones. @throws HttpError `InvalidOption` */
export function validateOptions(apiServer: ServerLike | undefined, options: Partial<ListenOptions> | undefined): void {
  if (typeof apiServer?.handle !== 'function') throw invalid('the server must have a function named handle')
  const problem = optionsProblem(options ?? {}, { what: 'listen', kinds: optionKinds, example: '{ port: 6443, tls: false }' })
  if (problem !== undefined) throw invalid(problem)
  const { port = 0, tls, goaway, limits = {} } = options ?? {}
  const unknownLimit = membersProblem('`limits`', limits, defaultListenLimits)
  if (unknownLimit !== undefined) throw invalid(unknownLimit)
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
