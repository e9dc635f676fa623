import { createCertificateRequest, createSigningAuthority } from '@krmkit/certificates'
import { describe, expect, it } from 'vitest'
import { CertificateSigningRequest, type CertificateSigningRequestSpec } from '../../group-versions/certificates-v1.generated.ts'
import { ClusterTrustBundle } from '../../group-versions/certificates-v1beta1.generated.ts'
import { runPreparation } from '../../preparation.ts'
import { runValidation } from '../../validation.ts'
import { completeTrustBundleStrategy, completeSigningRequestStrategy as strategy } from '../certificates/complete.ts'
import { testContext } from '../testing/context.ts'
import { base64, faults } from '../testing/objects.ts'

/** CertificateSigningRequest. @see API protocol specification, 2.10 */

const pem = (type: string, ...bytes: number[]) =>
  `-----BEGIN ${type}-----\n${Buffer.from(bytes).toString('base64')}\n-----END ${type}-----\n`
const { request } = createCertificateRequest({ subject: { commonName: 'jane' }, names: { dns: ['a.b'] } })
const random = { bytes: (size: number) => new Uint8Array(size).fill(7) }
const { certificate } = await createSigningAuthority({ clock: { now: () => 0 }, random })
const complete: CertificateSigningRequestSpec = {
  request: base64(request),
  signerName: 'example.com/signer',
  usages: ['client auth'],
}

function csr(spec: object = {}, status: object = {}): CertificateSigningRequest {
  return CertificateSigningRequest.create({
    metadata: { name: 'a', uid: 'u', resourceVersion: '1' },
    spec: { ...complete, ...spec } as CertificateSigningRequestSpec,
    status,
  })
}
const wrong = (spec: object) => faults(CertificateSigningRequest.validate(csr(spec)))
const context = testContext()
const through = (name: string, status: object, old: object = {}) => {
  const next = csr({}, status)
  const before = csr({}, old)
  runPreparation(strategy.subresources?.[name]?.prepareForUpdate(next, before, context))
  return faults(runValidation(strategy.subresources?.[name]?.validateUpdate(next, before, context)))
}

describe('certificate signing requests', () => {
  it('require a PKCS#10 request in PEM [P85]', () => {
    expect(wrong({})).toEqual([])
    for (const text of ['', 'no PEM', certificate, pem('CERTIFICATE REQUEST', 0x30, 0), request.replace(/.{8}\n/, '\n')])
      expect(wrong({ request: base64(text) }), text).toEqual(['spec.request Invalid'])
  })

  it('require a signer name with a domain and a path [P86]', () => {
    expect(wrong({ signerName: '' })).toEqual(['spec.signerName Required'])
    for (const signerName of ['plain', '/a', 'a/b'])
      expect(wrong({ signerName }), signerName).toContain('spec.signerName Invalid')
    expect(wrong({ signerName: 'kubernetes.io/kube-apiserver-client' })).toEqual([])
  })

  it('accept expirationSeconds of 600 and more [P87]', () => {
    expect([wrong({ expirationSeconds: 600 }), wrong({ expirationSeconds: 599 })]).toEqual([
      [],
      ['spec.expirationSeconds Invalid'],
    ])
  })

  it('require known usages without duplicates [P88]', () => {
    expect(wrong({ usages: [] })).toEqual(['spec.usages Required'])
    expect(wrong({ usages: ['client auth', 'digital signature', 'key encipherment'] })).toEqual([])
    expect(wrong({ usages: ['fun'] })).toEqual(['spec.usages[0] NotSupported'])
    expect(wrong({ usages: ['any', 'any'] })).toEqual(['spec.usages[1] Duplicate'])
  })

  it('are approved and denied for good, by a sub-resource [P89]', () => {
    const approved = { conditions: [{ type: 'Approved', status: 'True' }] }
    const denied = { conditions: [{ type: 'Denied', status: 'True' }] }
    expect([through('approval', approved), through('approval', denied)]).toEqual([[], []])
    expect(through('approval', {}, approved)).toEqual(['status.conditions Forbidden'])
    expect(through('status', { conditions: [{ type: 'Failed', status: 'True' }] })).toEqual([])
    expect(through('approval', { conditions: [...approved.conditions, ...denied.conditions] })).toEqual([
      'status.conditions[1].type Invalid',
    ])
  })

  it('allow one condition per type, with a status [P90 P91]', () => {
    const approved = { type: 'Approved', status: 'True' }
    expect(through('approval', { conditions: [approved, approved] })).toEqual(['status.conditions[1].type Duplicate'])
    expect(through('approval', { conditions: [{ type: 'Approved', status: '' }] })).toEqual([
      'status.conditions[0].status Required',
    ])
    expect(through('approval', { conditions: [{ type: 'Approved', status: 'False' }] })).toEqual([
      'status.conditions[0].status NotSupported',
    ])
    expect(through('approval', { conditions: [{ type: '', status: 'True' }] })).toEqual(['status.conditions[0].type Required'])
  })

  it('get the times of conditions from the server [P92]', () => {
    const next = csr({}, { conditions: [{ type: 'Approved', status: 'True' }] })
    runPreparation(strategy.subresources?.['approval']?.prepareForUpdate(next, csr(), context))
    expect(next.status?.conditions?.[0]).toMatchObject({
      lastUpdateTime: '1970-01-01T00:00:00Z',
      lastTransitionTime: '1970-01-01T00:00:00Z',
    })
  })

  it('accept a certificate in PEM when they are signed, and nothing else [P93 P94]', () => {
    const made = CertificateSigningRequest.default(csr({}, { certificate: base64(certificate) }))
    runPreparation(strategy.prepareForCreate?.(made, context))
    expect(made.status).toEqual({})
    expect(through('status', { certificate: base64(certificate + certificate) })).toEqual([])
    for (const text of [request, 'no PEM', certificate + request])
      expect(through('status', { certificate: base64(text) }), text).toEqual(['status.certificate Invalid'])
    const signed = { certificate: base64(certificate) }
    expect(through('status', { certificate: base64(certificate + certificate) }, signed)).toEqual([
      'status.certificate Forbidden',
    ])
  })

  it('reject the legacy-unknown signer in v1 [P108]', () => {
    expect(wrong({ signerName: 'kubernetes.io/legacy-unknown' })).toEqual(['spec.signerName Invalid'])
  })

  it('accept custom signers [P112]', () => {
    expect(wrong({ signerName: 'signers.example.com/my-signer', usages: ['code signing'] })).toEqual([])
  })
})

describe('trust bundles', () => {
  const bundle = (trustBundle: string, signerName = 'example.com/signer') =>
    ClusterTrustBundle.create({
      metadata: { name: 'example.com:signer:a', uid: 'u', resourceVersion: '1' },
      spec: { trustBundle, signerName },
    })
  const found = (text: string) => ClusterTrustBundle.validate(bundle(text)).map(({ field, message }) => `${field} ${message}`)

  it('accept certificates of authorities without duplicates only', () => {
    expect(found(certificate)).toEqual([])
    const wrong = (...faults: string[]) => faults.map((fault) => `spec.trustBundle Invalid value: "<value omitted>": ${fault}`)
    expect(found('no PEM')).toEqual(wrong('at least one trust anchor must be provided'))
    expect(found(certificate + certificate)).toEqual(wrong('duplicate trust anchor (indices [0 1])'))
    const odd = certificate.replace('-----\n', '-----\na: b\n') + request + pem('CERTIFICATE', 0x30, 0)
    expect(found(odd)).toEqual(
      wrong(
        'entry 0 has PEM block headers',
        'entry 1 has bad block type: CERTIFICATE REQUEST',
        'entry 2 does not parse as X.509',
      ),
    )
    expect(found(' '.repeat(1024 * 1024 + 1))).toEqual(['spec.trustBundle Too long: may not be more than 1048576 bytes'])
  })

  it('keep their signer and do not revalidate an unchanged bundle', () => {
    const update = (next: object, old: object) =>
      faults(runValidation(completeTrustBundleStrategy.validateUpdate?.(next as never, old as never, context)))
    expect(update(bundle('no PEM'), bundle('no PEM'))).toEqual([])
    expect(update(bundle('no PEM'), bundle(certificate))).toEqual(['spec.trustBundle Invalid'])
    // The name is that of a bundle without a signer.
    expect(update(bundle(certificate, 'example.com/other'), bundle(certificate))).toEqual([
      'metadata.name Invalid',
      'spec.signerName Invalid',
    ])
  })
})
