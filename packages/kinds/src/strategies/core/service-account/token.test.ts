import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TokenRequest, TokenRequestSpec } from '../../../types/authentication-v1.generated.ts'
import {
  type BoundObjectReader,
  boundObject,
  completeTokenRequest,
  grantTokenRequest,
  validateTokenName,
  validateTokenRequest,
} from './token.ts'

const now = Date.UTC(2024, 0, 1)
const account = { namespace: 'shop', name: 'robot' }

function request(spec: Partial<TokenRequestSpec> = {}, metadata: TokenRequest['metadata'] = {}): TokenRequest {
  return { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec: { audiences: null, ...spec } }
}

describe('validation of a TokenRequest', () => {
  it('the name is that of the account, or absent', () => {
    expect(validateTokenName(request(), account)).toEqual([])
    expect(validateTokenName(request({}, { name: 'robot' }), account)).toEqual([])
    expect(validateTokenName(request({}, { name: 'other' }), account)).toEqual([
      {
        field: 'metadata.name',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "other": must match the service account name if specified',
      },
    ])
  })

  it.each([
    [undefined, undefined],
    [null, undefined],
    [600, undefined],
    [599, 'Invalid value: 599: may not specify a duration less than 10 minutes'],
    [2 ** 32, undefined],
    [2 ** 32 + 1, 'Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds'],
  ])('of %s seconds [P327]', (expirationSeconds, message) => {
    const errors = validateTokenRequest(request(expirationSeconds === undefined ? {} : { expirationSeconds }))
    expect(errors).toEqual(
      message === undefined ? [] : [{ field: 'spec.expirationSeconds', reason: 'FieldValueInvalid', message }],
    )
  })
})

describe('completeTokenRequest', () => {
  it('fills in what the client omitted, and drops a status [P326]', () => {
    const status = { token: 'forged', expirationTimestamp: null }
    expect(completeTokenRequest({ ...request(), status }, account, now)).toEqual({
      ...request(),
      metadata: { ...account, creationTimestamp: '2024-01-01T00:00:00Z' },
      spec: { audiences: [], expirationSeconds: 3600 },
    })
    expect(completeTokenRequest(request({ audiences: ['a'], expirationSeconds: 900 }), account, now).spec).toEqual({
      audiences: ['a'],
      expirationSeconds: 900,
    })
  })
})

describe('grantTokenRequest', () => {
  it('states what the issuer granted', () => {
    const grant = { token: 't', audiences: ['api'], expirationSeconds: 600, expiresAt: now }
    const granted = grantTokenRequest(request({ expirationSeconds: 900 }), grant)
    expect(granted.spec).toEqual({ audiences: ['api'], expirationSeconds: 600, boundObjectRef: null })
    expect(granted.status).toEqual({ token: 't', expirationTimestamp: '2024-01-01T00:00:00Z' })
  })
})

describe('boundObject', () => {
  const stored: Readonly<Record<string, object>> = {
    'secrets/shop/s': {},
    'nodes//n': {},
    'pods/shop/own': { serviceAccountName: 'robot' },
    'pods/shop/placed': { serviceAccountName: 'robot', nodeName: 'n' },
    'pods/shop/early': { serviceAccountName: 'robot', nodeName: 'unknown' },
    'pods/shop/foreign': { serviceAccountName: 'other' },
  }
  const reader: BoundObjectReader = {
    get({ resource }, namespace, name): ApiObject | undefined {
      const spec = stored[`${resource}/${namespace}/${name}`]
      return spec && ({ metadata: { name, uid: `uid of ${name}` }, spec } as unknown as ApiObject)
    },
  }
  const bound = (kind: string, name: string, more: object = {}) =>
    boundObject({ apiVersion: 'v1', kind, name, ...more }, account, reader)

  it('finds secrets and pods of the namespace, and nodes', () => {
    expect(boundObject(null, account, reader)).toBeUndefined()
    expect(bound('Secret', 's', { uid: 'uid of s' })).toEqual({ kind: 'Secret', name: 's', uid: 'uid of s' })
    expect(bound('Node', 'n')).toEqual({ kind: 'Node', name: 'n', uid: 'uid of n' })
    expect(bound('Pod', 'own')).toEqual({ kind: 'Pod', name: 'own', uid: 'uid of own' })
    for (const apiVersion of ['', '/v1', 'v7', 'a/b/c']) expect(bound('Node', 'n', { apiVersion }), apiVersion).toBeDefined()
  })

  it('names the node of a pod, without uid until the node exists', () => {
    expect(bound('Pod', 'placed')).toMatchObject({ node: { name: 'n', uid: 'uid of n' } })
    expect(bound('Pod', 'early')).toMatchObject({ node: { name: 'unknown', uid: '' } })
  })

  it.each([
    ['ConfigMap', 's', {}, 'cannot bind token to object of type /v1, Kind=ConfigMap'],
    ['constructor', 's', {}, 'cannot bind token to object of type /v1, Kind=constructor'],
    ['Pod', 'own', { apiVersion: 'apps/v1' }, 'cannot bind token to object of type apps/v1, Kind=Pod'],
    ['ConfigMap', 's', { apiVersion: '' }, 'cannot bind token to object of type /, Kind=ConfigMap'],
    ['ConfigMap', 's', { apiVersion: 'a/b/c' }, 'cannot bind token to object of type /, Kind=ConfigMap'],
    ['Pod', '', {}, 'Name parameter required.'],
    ['Pod', 'none', {}, 'pods "none" not found'],
    ['Secret', 's', { uid: 'other' }, 'the UID in the bound object reference (other) does not match the UID in record'],
    ['Pod', 'foreign', {}, 'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.'],
  ])('refuses %s %j %o', (kind, name, more, message) => {
    expect(() => bound(kind, name, more)).toThrow(message)
  })
})
