import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isJsonObject } from '@krmkit/meta'
import { parseTime } from '@krmkit/meta/time'
import { ClientError } from '../client-error.ts'
import type { Credentials } from './credential-source.ts'
import type { ExecCluster, ExecConfig } from './exec-config.ts'

/** ExecCredential: the input and the output of a command. @see API protocol specification, 2.7 */

/** Returns the value of the environment variable that passes the ExecCredential to a command. */
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

export interface ExecResult {
  readonly credentials: Credentials
  /** Milliseconds since the epoch. Absent: valid until the server rejects them. */
  readonly expiresAt?: number
}

/** Parses the output of a command. @throws ClientError `CredentialsFailed`, without any part of the output */
export function readExecCredential(output: string, { apiVersion, command }: ExecConfig): ExecResult {
  const failed = (problem: string) => credentialsFailed(command, problem)
  const credential = objectIn(parse(output))
  if (credential === undefined) throw failed('printed no ExecCredential')
  if (credential.kind !== 'ExecCredential') throw failed('printed an object of another kind than ExecCredential')
  if (credential.apiVersion !== apiVersion)
    throw failed(`printed version ${JSON.stringify(credential.apiVersion)}, but ${JSON.stringify(apiVersion)} is configured`)
  const status = objectIn(credential.status)
  if (status === undefined) throw failed('printed no status')
  const text = (name: string) => {
    const value = status[name]
    if (value === undefined || value === null) return ''
    if (typeof value !== 'string') throw failed(`printed a ${name} that is not a string`)
    return value
  }
  const [token, certificate, key] = ['token', 'clientCertificateData', 'clientKeyData'].map(text)
  if (!token && !certificate && !key) throw failed('printed neither a token nor a certificate with its key')
  if (!certificate !== !key) throw failed('printed a certificate or a key, but not both')
  if (certificate && key) validateKeyPair({ certificate, key }, failed)
  const expiresAt = expirationOf(status, failed)
  return {
    credentials: { ...(token ? { token } : {}), ...(certificate && key ? { certificate, key } : {}) },
    ...(expiresAt === undefined ? {} : { expiresAt }),
  }
}

/** An RFC 3339 timestamp, or null. @returns milliseconds since the epoch; undefined for null */
function expirationOf(
  { expirationTimestamp: value }: Readonly<Record<string, unknown>>,
  failed: (problem: string) => ClientError,
): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw failed('printed an expirationTimestamp that is not a string')
  try {
    return parseTime(value)
  } catch {
    // The parser error is dropped, because it quotes the output.
    throw failed('printed an invalid expirationTimestamp: it must be an RFC 3339 time')
  }
}

export function credentialsFailed(command: string, problem: string, cause?: unknown): ClientError {
  const message = `credentials: the command ${JSON.stringify(command)} ${problem}`
  return new ClientError({ code: 'CredentialsFailed', message, ...(cause === undefined ? {} : { cause }) })
}

function validateKeyPair(pair: { certificate: string; key: string }, failed: (problem: string) => ClientError): void {
  let isPair: boolean
  try {
    isPair = new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key))
  } catch {
    throw failed('printed an unreadable certificate or key')
  }
  if (!isPair) throw failed('printed a certificate and a key that do not match')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isJsonObject(value) ? value : undefined
}
