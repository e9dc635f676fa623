import { type ApiObject, createFeatures } from '@krmkit/meta'
import { formatFieldError } from '@krmkit/meta/validation'
import { describe, expect, it } from 'vitest'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { certificateSigningRequestStrategy as strategy } from './strategy.ts'

await strategy.ready?.({ metadata: {} } as ApiObject, undefined)

function request(...types: string[]): ApiObject {
  const conditions = types.map((type) => ({ type, status: 'True', reason: 'R' }))
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'c', uid: 'u', resourceVersion: '1' },
    spec: { request: '', signerName: 'example.com/s', usages: ['client auth'] },
    status: { conditions },
  } as unknown as ApiObject
}

function errorsOf(release: string): string[] {
  const context = testContext({ features: createFeatures(release) })
  const approval = strategy.subresources?.['approval']
  const errors = runValidation(approval?.validateUpdate(request('Approved', 'Denied'), request('Approved'), context))
  return errors.map(formatFieldError).filter((text) => text.startsWith('status.conditions'))
}

describe('an approved and denied request', () => {
  it.each([
    ['1.33', 'status.conditions[1].type'],
    ['1.34', 'status.conditions'],
    ['1.37', 'status.conditions'],
  ])('is an error of %s at %s', (release, field) => {
    expect(errorsOf(release)).toEqual([
      `${field}: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive`,
    ])
  })
})
