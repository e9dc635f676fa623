import { createCertificateRequest, requestSignatureError } from '@krmkit/certificates'
import { encodeBase64, readPemBlocks } from '@krmkit/certificates/request'
import { type ApiObject, createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { runPreparation } from '../../../preparation.ts'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { podCertificateRequestPrinter } from './printer.ts'
import { podCertificateRequestStrategy as strategy } from './strategy.ts'

const context = testContext({ features: createFeatures('1.37'), requestSignatureError })
await strategy.ready?.({ metadata: {} } as ApiObject, undefined)

const stub = (() => {
  const { request } = createCertificateRequest({ subject: { commonName: '' } })
  const [block] = readPemBlocks(request)
  return encodeBase64(block?.bytes ?? new Uint8Array())
})()
const uids = { podUID: 'p', serviceAccountUID: 's', nodeUID: 'n' }
const names = { podName: 'p', serviceAccountName: 's', nodeName: 'n' }
const fine = { ...uids, ...names, signerName: 'example.com/s', maxExpirationSeconds: 3600, stubPKCS10Request: stub }
const request = (spec: object, status: object = {}) =>
  ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: { name: 'x', namespace: 'n', uid: 'u', resourceVersion: '1' },
    spec,
    status,
  }) as ApiObject
const texts = (errors: readonly { readonly field: string; readonly message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`)
const created = (members: object) => texts(runValidation(strategy.validate?.(request({ ...fine, ...members }), context)))
const updated = (now: object, old: object = {}) =>
  texts(runValidation(strategy.subresources?.['status']?.validateUpdate(request(fine, now), request(fine, old), context)))
const condition = (type: string, status = 'True') => ({
  type,
  status,
  reason: 'R',
  message: '',
  lastTransitionTime: '2020-01-01T00:00:00Z',
})

describe('pod certificate requests', () => {
  it('name a pod, its account and its node, and bring a signed request', () => {
    expect(created({})).toEqual([])
    expect(created({ podUID: '', maxExpirationSeconds: 10, unverifiedUserAnnotations: { a: 'b' } })).toEqual([
      'spec.unverifiedUserAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")',
      'spec.podUID: Invalid value: "": must not be empty',
      'spec.maxExpirationSeconds: Invalid value: 10: must be in the range [3600, 7862400]',
    ])
    expect(created({ signerName: 'kubernetes.io/s', maxExpirationSeconds: 86_401 })).toEqual([
      'spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]',
    ])
    expect(created({ maxExpirationSeconds: undefined })).toEqual(['spec.maxExpirationSeconds: Required value: must be set'])
    const [none] = created({ stubPKCS10Request: '' })
    expect(none).toMatch(/^spec: .*exactly one of \(stubPKCS10Request\) or \(pkixPublicKey, proofOfPossession\) must be set$/)
    expect(created({ stubPKCS10Request: 'AAAA' })[0]).toMatch(/must be a valid PKCS#10 CSR$/)
  })

  it('are immutable', () => {
    const next = request({ ...fine, podName: 'q' })
    expect(runValidation(strategy.validateUpdate?.(next, request(fine), context)).map(({ field }) => field)).toEqual(['spec'])
    const made = request(fine, { conditions: [condition('Issued')] })
    runPreparation(strategy.prepareForCreate?.(made, context))
    expect(made['status']).toEqual({})
  })

  it('end with one condition', () => {
    expect(updated({ conditions: [condition('Denied')] })).toEqual([])
    expect(updated({ conditions: [condition('Denied')], certificateChain: 'x' })[0]).toMatch(
      /must be empty when denying or failing/,
    )
    expect(updated({ conditions: [condition('Denied'), condition('Failed')] })[0]).toMatch(/There may be at most one condition/)
    expect(updated({ conditions: [condition('Other'), condition('Failed', 'False')] })).toEqual([
      'status.conditions[0].type: Unsupported value: "Other": supported values: "Issued", "Denied", "Failed"',
      'status.conditions[1].status: Unsupported value: "False": supported values: "True"',
    ])
    expect(updated({}, { conditions: [condition('Failed')] })[0]).toMatch(
      /immutable after PodCertificateRequest is issued, denied, or failed$/,
    )
    expect(updated({ conditions: [condition('Issued')] })[0]).toMatch(
      /issued certificate chain must contain at least one certificate$/,
    )
  })

  it('are shown with their state', () => {
    const made = request({ ...fine, unverifiedUserAnnotations: { 'a/b': 'c' } }, { conditions: [condition('Denied')] })
    expect(podCertificateRequestPrinter.cells(made as never, { now: 0 })).toEqual([
      'x',
      'p',
      's',
      'n',
      'example.com/s',
      'Denied',
      'a/b=c',
    ])
  })
})
