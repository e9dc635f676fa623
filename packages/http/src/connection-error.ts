import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'

/** The intended peer of a connection. */
export interface Destination {
  readonly host: string
  readonly port: number
  /** Name that the certificate must contain. */
  readonly name: string
}

type SystemError = NodeJS.ErrnoException & { readonly cert?: PeerCertificate }

const unknownAuthority = 'x509: certificate signed by unknown authority'

/** Messages of Go's TLS client by OpenSSL error code. */
const certificateErrors: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_UNTRUSTED: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  INVALID_CA: 'x509: invalid certificate authority',
  INVALID_PURPOSE: 'x509: certificate specifies an incompatible key usage',
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
}

const connectErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
}

/** Code of a connection that was not established in time. */
export const connectTimeoutCode = 'ERR_CONNECT_TIMEOUT'

/** How OpenSSL describes a peer that does not speak TLS, in the code or in the message of an error. */
const notTls = /wrong version number|packet length too long|ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)/

/** Converts a connection failure to the message of Go's HTTP client, which users and tools of kube-apiserver know. */
export function connectionError(error: unknown, destination: Destination): Error {
  const failure = (error instanceof Error ? error : new Error(String(error))) as SystemError
  return new Error(messageOf(failure, destination), { cause: error })
}

function messageOf({ code = '', message, cert }: SystemError, { host, port, name }: Destination): string {
  const address = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
  if (Object.hasOwn(connectErrors, code)) return `dial tcp ${address}: connect: ${connectErrors[code]}`
  if (code === connectTimeoutCode) return `dial tcp ${address}: i/o timeout`
  if (notTls.test(`${code} ${message}`)) return 'tls: first record does not look like a TLS handshake'
  if (Object.hasOwn(certificateErrors, code)) return `tls: failed to verify certificate: ${certificateErrors[code]}`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `tls: failed to verify certificate: ${nameMismatch(name, cert)}`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`
  if (code !== 'ECONNRESET') return message
  if (message === 'aborted') return 'unexpected EOF'
  return message === 'socket hang up' ? 'EOF' : `read tcp ${address}: read: connection reset by peer`
}

function nameMismatch(name: string, certificate: PeerCertificate | undefined): string {
  const kind = isIP(name) === 0 ? 'DNS:' : 'IP Address:'
  const names = (certificate?.subjectaltname ?? '')
    .split(', ')
    .filter((each) => each.startsWith(kind))
    .map((each) => each.slice(kind.length))
  if (isIP(name) !== 0) {
    return names.length === 0
      ? `x509: cannot validate certificate for ${name} because it doesn't contain any IP SANs`
      : `x509: certificate is valid for ${names.join(', ')}, not ${name}`
  }
  if ((certificate?.subjectaltname ?? '') === '') return 'x509: certificate relies on legacy Common Name field, use SANs instead'
  if (names.length === 0) return `x509: certificate is not valid for any names, but wanted to match ${name}`
  return `x509: certificate is valid for ${names.join(', ')}, not ${name}`
}
