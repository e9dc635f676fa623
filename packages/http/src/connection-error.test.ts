import { describe, expect, it } from 'vitest'
import { connectionError } from './connection-error.ts'

const destination = { host: '127.0.0.1', port: 8443, name: 'hook.shop.svc' }
const failure = (code: string, message = 'x', more: object = {}) => Object.assign(new Error(message), { code, ...more })
const messageOf = (error: unknown, rest: object = {}) => connectionError(error, { ...destination, ...rest }).message
const named = (subjectaltname?: string) => failure('ERR_TLS_CERT_ALTNAME_INVALID', 'x', { cert: { subjectaltname } })

describe('connectionError', () => {
  it.each([
    ['ECONNREFUSED', 'x', 'dial tcp 127.0.0.1:8443: connect: connection refused'],
    ['EHOSTUNREACH', 'x', 'dial tcp 127.0.0.1:8443: connect: no route to host'],
    ['ENOTFOUND', 'x', 'dial tcp: lookup 127.0.0.1: no such host'],
    ['ECONNRESET', 'socket hang up', 'EOF'],
    ['ECONNRESET', 'aborted', 'unexpected EOF'],
    ['ECONNRESET', 'read ECONNRESET', 'read tcp 127.0.0.1:8443: read: connection reset by peer'],
    ['CERT_HAS_EXPIRED', 'x', 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'x', 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
    ['ERR_CONNECT_TIMEOUT', 'x', 'dial tcp 127.0.0.1:8443: i/o timeout'],
    ['EPROTO', 'ssl3_get_record:wrong version number', 'tls: first record does not look like a TLS handshake'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'x', 'tls: first record does not look like a TLS handshake'],
    ['SOMETHING', 'as it is', 'as it is'],
    ['toString', 'as it is', 'as it is'],
  ])('words %s (%s) as Go does', (code, message, text) => expect(messageOf(failure(code, message))).toBe(text))

  it('names the subject alternative names of the certificate [P84]', () => {
    const start = 'tls: failed to verify certificate: x509: '
    expect(messageOf(named('DNS:a.test, DNS:b.test, IP Address:10.0.0.1'))).toBe(
      `${start}certificate is valid for a.test, b.test, not hook.shop.svc`,
    )
    expect(messageOf(named())).toBe(`${start}certificate relies on legacy Common Name field, use SANs instead`)
    expect(messageOf(named('IP Address:10.0.0.1'))).toBe(
      `${start}certificate is not valid for any names, but wanted to match hook.shop.svc`,
    )
    expect(messageOf(named('IP Address:10.0.0.1'), { name: '10.0.0.2' })).toBe(
      `${start}certificate is valid for 10.0.0.1, not 10.0.0.2`,
    )
    expect(messageOf(named('DNS:a.test'), { name: '10.0.0.2' })).toBe(
      `${start}cannot validate certificate for 10.0.0.2 because it doesn't contain any IP SANs`,
    )
  })

  it('keeps the original error as the cause', () => {
    const error = failure('ECONNREFUSED')
    expect(connectionError(error, { ...destination, host: '::1' }).message).toContain('[::1]:8443')
    expect(connectionError('text', destination).message).toBe('text')
    expect(connectionError(error, destination).cause).toBe(error)
  })
})
