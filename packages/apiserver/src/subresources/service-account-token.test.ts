import type { ServiceAccountIssuer } from '@krmkit/authentication/service-account'
import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const accounts = '/api/v1/namespaces/default/serviceaccounts'
type Request = Parameters<ServiceAccountIssuer['issue']>[0]

async function withAccount(features = createFeatures()) {
  const requests: Request[] = []
  const expiresAt = Date.UTC(2024, 0, 1, 1)
  const issuer: ServiceAccountIssuer = {
    issuer: 'https://issuer',
    issue: async (request) => {
      requests.push(request)
      return { token: 'a.b.c', expiresAt, audiences: request.audiences.length === 0 ? ['api'] : request.audiences }
    },
  }
  const sample = await sampleServer({ serviceAccountIssuer: issuer, features })
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }
  const { json } = await sample.ask(accounts, { method: 'POST', body: account })
  const request = (spec: object, name = 'robot', metadata: object = {}) =>
    sample.ask(`${accounts}/${name}/token`, {
      method: 'POST',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec },
    })
  return { ...sample, requests, uid: json.metadata.uid as string, request }
}

describe('serviceaccounts/token', () => {
  it('a token is valid for an hour by default [P326]', async () => {
    const { request, requests, uid } = await withAccount()
    const { status, json } = await request({})
    expect(status).toBe(201)
    expect(json).toMatchObject({
      kind: 'TokenRequest',
      metadata: { name: 'robot', namespace: 'default' },
      spec: { audiences: ['api'], expirationSeconds: 3600, boundObjectRef: null },
      status: { token: 'a.b.c', expirationTimestamp: '2024-01-01T01:00:00Z' },
    })
    expect(requests).toEqual([{ namespace: 'default', name: 'robot', uid, audiences: [], expirationSeconds: 3600 }])
  })

  it('returns only metadata on request, and has no Table [P190, P194]', async () => {
    const { ask } = await withAccount()
    const post = (as: string, encoding = 'json') =>
      ask(`${accounts}/robot/token`, {
        method: 'POST',
        body: { metadata: { annotations: { a: 'b' } }, spec: {} },
        headers: { accept: `application/${encoding};as=${as};g=meta.k8s.io;v=v1` },
      })
    const { status, json } = await post('PartialObjectMetadata')
    expect([status, Object.keys(json)]).toEqual([201, ['kind', 'apiVersion', 'metadata']])
    expect(json).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'robot', namespace: 'default', annotations: { a: 'b' } },
    })
    const encoded = await post('PartialObjectMetadata', 'vnd.kubernetes.protobuf')
    expect([encoded.status, encoded.text.includes('PartialObjectMetadata')]).toEqual([201, true])
    expect(encoded.text).not.toContain('a.b.c')
    expect((await post('Table')).status).toBe(406)
  })

  it('a token is valid for at least ten minutes [P327]', async () => {
    const { request } = await withAccount()
    expect((await request({ expirationSeconds: 600 })).status).toBe(201)
    const refused = await request({ expirationSeconds: 599 }, 'robot', { name: 'robot' })
    expect(refused.json).toMatchObject({
      code: 422,
      message: expect.stringContaining('TokenRequest.authentication.k8s.io "" is invalid'),
      details: {
        kind: 'TokenRequest',
        causes: [
          {
            field: 'spec.expirationSeconds',
            message: 'Invalid value: 599: may not specify a duration less than 10 minutes',
          },
        ],
      },
    })
    expect((await request({ expirationSeconds: 2 ** 32 + 1 })).json.message).toContain(
      'may not specify a duration larger than 2^32',
    )
  })

  it('requires an existing account of the same name', async () => {
    const { request } = await withAccount()
    expect((await request({}, 'missing')).json).toMatchObject({ code: 404, message: 'serviceaccounts "missing" not found' })
    expect((await request({}, 'missing', { name: 'other' })).json).toMatchObject({ code: 422, details: { name: 'missing' } })
    expect((await request({}, 'missing', { namespace: 'other' })).status).toBe(400)
    expect((await request({}, 'robot', { name: 'other' })).status).toBe(422)
    expect((await request({}, 'robot', { namespace: 'other' })).status).toBe(400)
  })

  it('binds to an object with the expected uid', async () => {
    const { ask, request, requests } = await withAccount()
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }
    const { uid } = (await ask('/api/v1/namespaces/default/secrets', { method: 'POST', body: secret })).json.metadata
    const boundObjectRef = { apiVersion: 'v1', kind: 'Secret', name: 's' }
    expect((await request({ boundObjectRef })).status).toBe(201)
    expect(requests.at(-1)?.bound).toEqual({ kind: 'Secret', name: 's', uid })
    expect((await request({ boundObjectRef: { ...boundObjectRef, uid: 'other' } })).status).toBe(409)
    expect((await request({ boundObjectRef: { ...boundObjectRef, name: 'none' } })).status).toBe(404)
    expect((await request({ boundObjectRef: { ...boundObjectRef, kind: 'ConfigMap' } })).status).toBe(400)
    expect((await request({ boundObjectRef: { ...boundObjectRef, kind: 'constructor' } })).status).toBe(400)
  })

  it('requires that a bound pod runs as the account', async () => {
    const { ask, request } = await withAccount()
    const pod = (name: string, serviceAccountName: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { serviceAccountName, containers: [{ name: 'c', image: 'i' }] },
    })
    for (const body of [pod('own', 'robot'), pod('foreign', 'other')])
      expect((await ask('/api/v1/namespaces/default/pods', { method: 'POST', body })).status).toBe(201)
    const bound = (name: string) => request({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name } })
    expect((await bound('own')).status).toBe(201)
    expect((await bound('foreign')).json.message).toContain('different serviceaccount name')
  })
})

describe('the uid of a token request', () => {
  const gate = 'TokenRequestServiceAccountUIDValidation'
  const ask = async (version: string, isOn: boolean, uid?: string) => {
    const { request, uid: own } = await withAccount(createFeatures(version, { [gate]: isOn }))
    const { status, json, headers } = await request({}, 'robot', { uid: uid ?? own })
    return { status, own, message: json.message, uid: json.metadata.uid, warning: headers['warning'] }
  }
  const differs = (own: string) => `the UID in the token request (other) does not match the UID of the service account (${own})`

  it('is that of the account, from 1.34 on', async () => {
    expect((await ask('1.33', true, 'other')).status).toBe(201)
    const refused = await ask('1.34', true, 'other')
    const subject = 'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot"'
    expect([refused.status, refused.message]).toEqual([409, `${subject}: ${differs(refused.own)}`])
    expect((await ask('1.34', true)).status).toBe(201)
  })

  it('is warned of where the gate is off', async () => {
    const { status, own, warning } = await ask('1.34', false, 'other')
    expect(status).toBe(201)
    expect(String(warning)).toContain(
      `${differs(own)} but ${gate} is not enabled. In the future, this will return a conflict error`,
    )
  })

  it('is filled in from 1.34 on', async () => {
    const { own, uid } = await ask('1.34', true, '')
    expect([uid, (await ask('1.33', true, '')).uid]).toEqual([own, undefined])
  })
})
