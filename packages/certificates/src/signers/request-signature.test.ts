import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createCertificateRequest } from '../create-certificate-request.ts'
import { readCertificateRequest } from '../request/certificate-request.ts'
import { requestSignatureError } from './request-signature.ts'

function request(key: string) {
  return readCertificateRequest(createCertificateRequest({ subject: { commonName: 'jane' }, key }).request)
}

const pem = { format: 'pem', type: 'pkcs8' } as const
const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem) as string
const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export(pem) as string

describe('requestSignatureError', () => {
  it('accepts requests signed with their key, even a weak key', () => {
    expect(requestSignatureError(request(elliptic))).toBeUndefined()
    expect(requestSignatureError(request(rsa))).toBeUndefined()
  })

  it('describes invalid signatures like kube-apiserver', () => {
    const [a, b] = [request(elliptic), request(rsa)]
    const changed = new Uint8Array(a.signed.length)
    expect(requestSignatureError({ ...a, signed: changed })).toBe('x509: ECDSA verification failure')
    expect(requestSignatureError({ ...b, signed: changed })).toBe('crypto/rsa: verification error')
    expect(requestSignatureError({ ...a, publicKey: b.publicKey })).toBe(
      'x509: signature algorithm specifies an ECDSA public key, but have public key of type *rsa.PublicKey',
    )
  })

  it('describes unsupported algorithms', () => {
    const signedBy = (oid: string) => ({ ...request(rsa), signatureAlgorithm: { oid, parameters: undefined } })
    expect(requestSignatureError(signedBy('1.2.840.113549.1.1.4'))).toBe(
      'x509: cannot verify signature: insecure algorithm MD5-RSA',
    )
    expect(requestSignatureError(signedBy('1.2.3'))).toBe('x509: cannot verify signature: algorithm unimplemented')
  })
})
