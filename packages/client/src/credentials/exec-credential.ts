import { createPrivateKey, X509Certificate } from 'node:crypto'
import { ClientError } from '../client-error.ts'
import type { Credentials } from './credential-source.ts'
import type { ExecCluster, ExecConfig } from './exec-config.ts'

/** ExecCredential, both ways: what a command is told, and what it answers; @see API protocol specification, 2.7. */

/** The text of the environment variable by which a command is told what for it runs. */
export function execInfo(config: ExecConfig, options: { readonly cluster: ExecCluster; readonly interactive: boolean }): string {
  return JSON.stringify({
    kind: 'ExecCredential',
    apiVersion: config.apiVersion,
    spec: {
      ...(config.provideClusterInfo ? { cluster: options.cluster } : {}),
      interactive: options.interactive,
    },
  })
}

export interface ExecAnswer {
  readonly credentials: Credentials
  /** Milliseconds since the epoch; absent: until the server refuses them. */
  readonly expiresAt?: number
}

/** Reads what a command has printed. @throws ClientError `CredentialsFailed`, without any part of what was printed. */
export function readExecCredential(printed: string, { apiVersion, command }: ExecConfig): ExecAnswer {
  const failed = (what: string) => credentialsFailed(command, what)
  const answer = objectIn(parse(printed))
  if (answer === undefined) throw failed('printed no ExecCredential')
  if (answer.kind !== 'ExecCredential') throw failed('printed something else than an ExecCredential')
  if (answer.apiVersion !== apiVersion)
    throw failed(`answered with version ${JSON.stringify(answer.apiVersion)}, but ${JSON.stringify(apiVersion)} is configured`)
  const status = objectIn(answer.status)
  if (status === undefined) throw failed('gave no status')
  const text = (name: string) => {
    const value = status[name]
    if (value === undefined || value === null) return ''
    if (typeof value !== 'string') throw failed(`gave a ${name} that is not a text`)
    return value
  }
  const [token, certificate, key, expiration] = ['token', 'clientCertificateData', 'clientKeyData', 'expirationTimestamp'].map(
    text,
  )
  if (!token && !certificate && !key) throw failed('gave neither a token nor a certificate with its key')
  if (!certificate !== !key) throw failed('gave a certificate or a key, but not both')
  if (certificate && key) checkPair({ certificate, key }, failed)
  const expiresAt = expiration ? Date.parse(expiration) : undefined
  if (expiresAt !== undefined && Number.isNaN(expiresAt)) throw failed('gave an expirationTimestamp that is no time')
  return {
    credentials: { ...(token ? { token } : {}), ...(certificate && key ? { certificate, key } : {}) },
    ...(expiresAt === undefined ? {} : { expiresAt }),
  }
}

export function credentialsFailed(command: string, what: string, cause?: unknown): ClientError {
  const message = `credentials: the command ${JSON.stringify(command)} ${what}`
  return new ClientError({ code: 'CredentialsFailed', message, ...(cause === undefined ? {} : { cause }) })
}

function checkPair(pair: { certificate: string; key: string }, failed: (what: string) => ClientError): void {
  let isPair: boolean
  try {
    isPair = new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key))
  } catch {
    throw failed('gave a certificate or a key that cannot be read')
  }
  if (!isPair) throw failed('gave a certificate and a key that do not belong together')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined
}
