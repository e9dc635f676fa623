import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AdmissionAttributes } from '../interfaces.ts'
import { attributesOf } from '../testing/request.ts'
import { chooseReviewVersion, encodeReview, requestMembers } from './review.ts'

const form = { resource: { group: 'g', version: 'v2', resource: 'widgets' }, kind: { group: 'g', version: 'v2', kind: 'Widget' } }
const own = { resource: { group: 'g', version: 'v1', resource: 'widgets' }, kind: { group: 'g', version: 'v1', kind: 'Widget' } }
const attributes: AdmissionAttributes = attributesOf('widgets', {
  ...own,
  subresource: 'status',
  name: 'a',
  namespace: 'shop',
  operation: 'UPDATE',
  user: { username: 'alice', uid: '7', groups: ['dev'], extra: { scopes: ['a', 'b'] } },
  options: { fieldManager: 'me' },
})
const request = (given: AdmissionAttributes = attributes) => {
  const text = encodeReview('admission.k8s.io/v1', 'u-1', requestMembers(given, form, stockProfile), {
    object: '{"x":1}',
    oldObject: 'null',
  })
  return JSON.parse(text) as { kind: string; apiVersion: string; request: Record<string, unknown> }
}

describe('reviews', () => {
  it("contain all members in kube-apiserver's order [P43, P44, P45, P46, P47, P50, P53]", () => {
    expect(JSON.stringify(request())).toBe(
      JSON.stringify({
        kind: 'AdmissionReview',
        apiVersion: 'admission.k8s.io/v1',
        request: {
          uid: 'u-1',
          kind: { group: 'g', version: 'v2', kind: 'Widget' },
          resource: { group: 'g', version: 'v2', resource: 'widgets' },
          subResource: 'status',
          requestKind: { group: 'g', version: 'v1', kind: 'Widget' },
          requestResource: { group: 'g', version: 'v1', resource: 'widgets' },
          requestSubResource: 'status',
          name: 'a',
          namespace: 'shop',
          operation: 'UPDATE',
          userInfo: { username: 'alice', uid: '7', groups: ['dev'], extra: { scopes: ['a', 'b'] } },
          object: { x: 1 },
          oldObject: null,
          dryRun: false,
          options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
        },
      }),
    )
  })

  it('omit empty members [P46, P49]', () => {
    const bare = request(attributesOf('nodes', { ...own, name: '', user: { username: 'u', groups: [] } }))
    expect(Object.keys(bare.request)).not.toEqual(expect.arrayContaining(['subResource']))
    expect(Object.keys(bare.request)).not.toEqual(expect.arrayContaining(['name']))
    expect(bare.request['userInfo']).toEqual({ username: 'u' })
  })

  it.each<[AdmissionAttributes['operation'], string | null]>([
    ['CREATE', 'CreateOptions'],
    ['UPDATE', 'UpdateOptions'],
    ['DELETE', 'DeleteOptions'],
    ['CONNECT', null],
  ])('contain the options of %s: %s [P48, P52]', (operation, kind) => {
    const { options } = request({ ...attributes, operation }).request as { options: { kind: string } | null }
    expect(options?.kind ?? null).toBe(kind)
  })

  it('set the namespace of a Namespace to its own name [P46]', () => {
    const about = attributesOf('namespaces', { name: 'shop' })
    expect(request(about).request).toMatchObject({ name: 'shop', namespace: 'shop' })
  })

  it('use the first supported version [P79]', () => {
    expect(chooseReviewVersion(['v7', 'v1beta1', 'v1'])).toBe('v1beta1')
    expect(chooseReviewVersion(['v1', 'v1beta1'])).toBe('v1')
    expect(chooseReviewVersion([])).toBeUndefined()
  })

  it('follow the naming profile [P2]', () => {
    const other = { ...stockProfile, apiDomain: 'api.example' }
    expect(requestMembers(attributes, form, other).after['options']).toMatchObject({ apiVersion: 'meta.api.example/v1' })
  })
})
