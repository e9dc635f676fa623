import { der, sequence } from '@krmkit/base/der'
import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { writeAlternativeNames } from '../request/alternative-names.ts'
import { decodeCertificateRequest } from '../request/certificate-request.ts'
import {
  basicConstraints,
  commonName,
  nodeSubject,
  organization,
  type RequestParts,
  requestDer,
  subjectAltName,
} from '../testing/requests.fixture.ts'
import { autoApprovalsFor } from './approval.ts'
import { builtInSigners, signerPurposeOf } from './names.ts'
import { validateSignerRequest } from './rules.ts'

const signers = builtInSigners(stockProfile)
const named = (names: {
  dns?: string[]
  emails?: string[]
  ips?: string[]
  uris?: string[]
}): NonNullable<RequestParts['extensions']> => [
  [subjectAltName, writeAlternativeNames({ dns: [], emails: [], ips: [], uris: [], ...names })],
]
const objection = (signerName: string, usages: readonly string[], parts: RequestParts = {}) =>
  validateSignerRequest({ signerName, usages, request: decodeCertificateRequest(requestDer(parts)) }, stockProfile)

describe('kube-apiserver-client', () => {
  const { apiserverClient } = signers

  it('accepts any subject, including administrators [P96]', () => {
    expect(objection(apiserverClient, ['client auth'], { subject: [[organization, 'system:masters']] })).toBeUndefined()
    expect(objection(apiserverClient, ['client auth'], { subject: [] })).toBeUndefined()
  })

  it('requires client auth, and otherwise allows only digital signature and key encipherment [P97]', () => {
    expect(objection(apiserverClient, ['client auth', 'digital signature', 'key encipherment'])).toBeUndefined()
    expect(objection(apiserverClient, ['digital signature'])).toBe('missing required usage for client certificate: client auth')
    expect(objection(apiserverClient, [])).toBe('missing required usage for client certificate: client auth')
    expect(objection(apiserverClient, ['client auth', 'server auth'])).toBe('invalid usage for client certificate: server auth')
    expect(objection(apiserverClient, ['client auth', 'any'])).toBe('invalid usage for client certificate: any')
  })

  it('accepts alternative names and other extensions [P98] [P109]', () => {
    const extensions = [...named({ dns: ['a.b'], uris: ['https://a.b'] }), [basicConstraints, sequence()] as const]
    expect(objection(apiserverClient, ['client auth'], { extensions })).toBeUndefined()
  })
})

describe('kube-apiserver-client-kubelet', () => {
  const { apiserverClientKubelet } = signers
  const usages = ['key encipherment', 'digital signature', 'client auth']
  const of = (parts: RequestParts) => objection(apiserverClientKubelet, usages, { subject: nodeSubject, ...parts })

  it('requires the single organization system:nodes and the common name prefix system:node: [P100]', () => {
    expect(of({})).toBeUndefined()
    const organizations = 'subject organization is not system:nodes'
    const node = [commonName, 'system:node:a'] as const
    expect(of({ subject: [node] })).toBe(organizations)
    expect(of({ subject: [[organization, 'system:nodes'], [organization, 'system:masters'], node] })).toBe(organizations)
    expect(of({ subject: [[organization, 'system:nodes,O=x'], node] })).toBe(organizations)
    expect(of({ subject: [[organization, 'system:nodes'], [organization, 'system:nodes'], node] })).toBe(organizations)
    const name = 'subject common name does not begin with system:node:'
    expect(
      of({
        subject: [
          [organization, 'system:nodes'],
          [commonName, 'jane'],
        ],
      }),
    ).toBe(name)
    // The last common name applies, as when the certificate is read.
    expect(of({ subject: [...nodeSubject, [commonName, 'jane']] })).toBe(name)
    expect(
      of({
        subject: [
          [organization, 'system:nodes'],
          [commonName, 'System:node:a'],
        ],
      }),
    ).toBe(name)
  })

  it('requires exact usages, with optional key encipherment [P101]', () => {
    const wrong = 'usages did not match [client auth digital signature key encipherment]'
    const problemOf = (list: string[]) => objection(apiserverClientKubelet, list, { subject: nodeSubject })
    expect(problemOf(['digital signature', 'client auth'])).toBeUndefined()
    for (const list of [[...usages, 'server auth'], ['client auth'], ['key encipherment', 'client auth'], ['digital signature']])
      expect(problemOf(list)).toBe(wrong)
  })

  it('rejects alternative names of any type [P102]', () => {
    expect(of({ extensions: named({ dns: ['a.b'] }) })).toBe('DNS subjectAltNames are not allowed')
    expect(of({ extensions: named({ emails: ['a@b'] }) })).toBe('Email subjectAltNames are not allowed')
    expect(of({ extensions: named({ ips: ['::1'] }) })).toBe('IP subjectAltNames are not allowed')
    expect(of({ extensions: named({ uris: ['a:b'] }) })).toBe('URI subjectAltNames are not allowed')
  })
})

describe('kubelet-serving', () => {
  const { kubeletServing } = signers
  const usages = ['key encipherment', 'digital signature', 'server auth']
  const extensions = named({ dns: ['node-a'], ips: ['10.0.0.1'] })
  const of = (parts: RequestParts) => objection(kubeletServing, usages, { subject: nodeSubject, extensions, ...parts })

  it('requires the single organization system:nodes and the common name prefix system:node: [P104]', () => {
    expect(of({})).toBeUndefined()
    expect(of({ subject: [[commonName, 'system:node:a']] })).toBe('subject organization is not system:nodes')
    expect(
      of({
        subject: [
          [organization, 'system:nodes'],
          [commonName, 'a'],
        ],
      }),
    ).toBe('subject common name does not begin with system:node:')
  })

  it('requires exact usages [P105]', () => {
    const problemOf = (list: string[]) => objection(kubeletServing, list, { subject: nodeSubject, extensions })
    expect(problemOf(['digital signature', 'server auth'])).toBeUndefined()
    for (const list of [[...usages, 'client auth'], ['server auth'], ['key encipherment', 'digital signature', 'client auth']])
      expect(problemOf(list)).toBe('usages did not match [digital signature key encipherment server auth]')
  })

  it('requires a DNS name or IP address, and rejects email addresses [P106]', () => {
    expect(of({ extensions: [] })).toBe('DNS or IP subjectAltName is required')
    expect(of({ extensions: named({ ips: ['fd00::7'] }) })).toBeUndefined()
    expect(of({ extensions: named({ dns: ['a'], emails: ['a@b'] }) })).toBe('Email subjectAltNames are not allowed')
  })

  it('rejects URIs [P107]', () => {
    expect(of({ extensions: named({ dns: ['a'], uris: ['spiffe://a/b'] }) })).toBe('URI subjectAltNames are not allowed')
  })
})

describe('required key encipherment', () => {
  const three = ['key encipherment', 'digital signature']
  const exact = { requireKeyEncipherment: true }
  const extensions = named({ dns: ['node-a'] })

  it.each([
    ['kube-apiserver-client-kubelet [P101]', signers.apiserverClientKubelet, 'client auth', { subject: nodeSubject }],
    ['kubelet-serving [P105]', signers.kubeletServing, 'server auth', { subject: nodeSubject, extensions }],
  ])('accepts exactly three usages for %s', (_, signerName, purpose, parts: RequestParts) => {
    const request = decodeCertificateRequest(requestDer(parts))
    const problemOf = (usages: string[]) => validateSignerRequest({ signerName, usages, request }, stockProfile, exact)
    expect(problemOf([...three, purpose])).toBeUndefined()
    const wrong = `usages did not match [${[...three, purpose].sort().join(' ')}]`
    expect(problemOf(['digital signature', purpose])).toBe(wrong)
    expect(problemOf([...three, purpose, 'any'])).toBe(wrong)
  })

  it('applies to automatic approvals, but not to other signers [P101]', () => {
    const request = decodeCertificateRequest(requestDer({ subject: nodeSubject }))
    const candidate = { signerName: signers.apiserverClientKubelet, request, username: 'u' }
    const two = ['digital signature', 'client auth']
    expect(autoApprovalsFor({ ...candidate, usages: two }, stockProfile, exact)).toEqual([])
    expect(autoApprovalsFor({ ...candidate, usages: [...three, 'client auth'] }, stockProfile, exact)).toHaveLength(1)
    const client = { signerName: signers.apiserverClient, request, usages: ['client auth'] }
    expect(validateSignerRequest(client, stockProfile, exact)).toBeUndefined()
  })
})

describe('other signers', () => {
  it('accepts everything for legacy-unknown [P108]', () => {
    expect(objection(signers.legacyUnknown, ['any', 'cert sign'], { subject: [[organization, 'x']] })).toBeUndefined()
  })

  it('accepts everything for custom signers [P112]', () => {
    expect(signerPurposeOf('example.com/x', stockProfile)).toBeUndefined()
    expect(objection('example.com/x', ['any'])).toBeUndefined()
  })
})

it('names signers after the domain of the profile [P112]', () => {
  const profile = { domain: 'example.org' }
  expect(signerPurposeOf('example.org/kubelet-serving', profile)).toBe('kubeletServing')
  expect(signerPurposeOf('kubernetes.io/kubelet-serving', profile)).toBeUndefined()
  const request = decodeCertificateRequest(requestDer({ subject: nodeSubject }))
  const submitted = { request, usages: ['digital signature', 'client auth'], username: 'x' }
  expect(autoApprovalsFor({ ...submitted, signerName: 'example.org/kube-apiserver-client-kubelet' }, profile)).toHaveLength(1)
  expect(autoApprovalsFor({ ...submitted, signerName: signers.apiserverClientKubelet }, profile)).toEqual([])
})

it('rejects control characters in names', () => {
  const why = 'subject and alternative names may not hold control characters'
  const client = (parts: RequestParts) => objection(signers.apiserverClient, ['client auth'], parts)
  for (const text of ['jane\u0000.evil', 'a\nb', 'a\u007f', 'a\u0085b']) {
    expect(client({ subject: [[commonName, text]] })).toBe(why)
    expect(client({ subject: [['2.5.4.42', text]] })).toBe(why)
  }
  const nul = sequence(der(0x82, new TextEncoder().encode('a.b\u0000.c')))
  expect(client({ extensions: [[subjectAltName, nul]] })).toBe(why)
  expect(
    objection(signers.apiserverClientKubelet, ['digital signature', 'client auth'], {
      subject: [
        [organization, 'system:nodes'],
        [commonName, 'system:node:a\u0000b'],
      ],
    }),
  ).toBe(why)
})

describe('autoApprovalsFor', () => {
  const usages = ['key encipherment', 'digital signature', 'client auth']
  const subresources = (signerName: string, options: { username?: string; parts?: RequestParts; usages?: string[] } = {}) => {
    const request = decodeCertificateRequest(requestDer({ subject: nodeSubject, ...options.parts }))
    const username = options.username ?? 'system:bootstrap:abcdef'
    return autoApprovalsFor({ signerName, request, usages: options.usages ?? usages, username }, stockProfile).map(
      ({ subresource }) => subresource,
    )
  }

  it('returns selfnodeclient for the node itself, and nodeclient for every user [P99]', () => {
    expect(subresources(signers.apiserverClientKubelet)).toEqual(['nodeclient'])
    expect(subresources(signers.apiserverClientKubelet, { username: 'system:node:a' })).toEqual(['selfnodeclient', 'nodeclient'])
    expect(subresources(signers.apiserverClientKubelet, { username: 'system:node:ab' })).toEqual(['nodeclient'])
  })

  it('returns nothing for other signers [P95] [P103]', () => {
    expect(subresources(signers.apiserverClient)).toEqual([])
    expect(subresources(signers.kubeletServing)).toEqual([])
    expect(subresources(signers.legacyUnknown)).toEqual([])
    expect(subresources('example.com/x')).toEqual([])
  })

  it('returns nothing when the rules of the signer are violated [P100] [P101] [P102]', () => {
    const { apiserverClientKubelet } = signers
    expect(subresources(apiserverClientKubelet, { parts: { subject: [[commonName, 'jane']] } })).toEqual([])
    expect(subresources(apiserverClientKubelet, { usages: [...usages, 'server auth'] })).toEqual([])
    expect(subresources(apiserverClientKubelet, { parts: { extensions: named({ dns: ['a'] }) } })).toEqual([])
  })
})
