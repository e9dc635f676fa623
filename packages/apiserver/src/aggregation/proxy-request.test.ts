import type { ApiRequest } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { forwardedResponse } from '../proxy/forwarded-message.ts'
import type { RequestContext } from '../request/context.ts'
import { createProxiedRequest, identityHeadersOf } from './proxy-request.ts'

function state(headers: ApiRequest['headers'], more: Partial<ApiRequest> = {}): RequestContext {
  const request = {
    method: 'GET',
    path: '/apis/g/v1',
    query: 'a=1',
    headers,
    peer: {},
    body: async () => new Uint8Array(),
    ...more,
  }
  return { request, auditId: 'id', user: { username: 'u', groups: [] } } as unknown as RequestContext
}

const options = { host: '10.0.0.1:443', limitBytes: 10 }

describe('a proxied request', () => {
  it('drops hop-by-hop headers and credentials', () => {
    const { headers, path } = createProxiedRequest(
      state({
        connection: 'close, X-Hop',
        'x-hop': '1',
        te: 'trailers',
        'transfer-encoding': 'chunked',
        authorization: 'Bearer t',
        'impersonate-user': 'root',
        'x-remote-user': 'root',
        'x-remote-extra-a': 'b',
        'x-kept': ['1', '2'],
      }),
      options,
    )
    expect(path).toBe('/apis/g/v1?a=1')
    expect({ ...headers }).toEqual({
      'x-kept': ['1', '2'],
      'x-remote-user': 'u',
      'audit-id': 'id',
      host: '10.0.0.1:443',
      'x-forwarded-host': '10.0.0.1:443',
      'x-forwarded-proto': 'https',
      'x-forwarded-uri': '/apis/g/v1',
    })
  })

  it('keeps the upgrade headers on an upgradable connection', () => {
    const headers = { connection: 'keep-alive, Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'k' }
    const upgraded = createProxiedRequest(state(headers, { upgradable: true }), options)
    expect(upgraded.upgrade).toBe(true)
    expect(upgraded.headers).toMatchObject({ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'k' })
    const plain = createProxiedRequest(state(headers), options)
    expect(plain.upgrade).toBe(false)
    expect(plain.headers).not.toHaveProperty('upgrade')
  })

  it('streams its body', async () => {
    const stream = () => (async function* () {})()
    const bodyOf = (headers: ApiRequest['headers'], more: Partial<ApiRequest>) =>
      createProxiedRequest(state(headers, more), options).readBody()
    expect(await bodyOf({}, { stream })).toBeUndefined()
    expect(await bodyOf({ 'content-length': '0' }, { stream, method: 'POST' })).toBeUndefined()
    expect(await bodyOf({ 'content-length': '5' }, { stream, method: 'POST' })).not.toBeInstanceOf(Uint8Array)
    expect(await bodyOf({}, { method: 'POST', body: async () => new Uint8Array([1]) })).toEqual(new Uint8Array([1]))
    expect(await bodyOf({}, { method: 'POST' })).toBeUndefined()
  })

  it.each([
    { username: 'u ', groups: [] },
    { username: 'u', groups: ['g', '\tg'] },
    { username: 'u\ufffd', groups: [] },
    { username: 'u', groups: [], uid: 'a\nb' },
    { username: 'u', groups: [], extra: { key: [' '] } },
  ])('is rejected for a user that headers cannot represent: %j', (user) => {
    expect(() => identityHeadersOf({ user })).toThrow(expect.objectContaining({ code: 400 }))
  })

  it('percent-encodes extra keys byte by byte', () => {
    const user = { username: 'u', uid: '7', groups: ['a'], extra: { 'Ex/ä%': ['1', '2'], 'x\ud800': ['3'], empty: [] } }
    expect(identityHeadersOf({ user })).toEqual({
      'x-remote-user': 'u',
      'x-remote-uid': '7',
      'x-remote-group': ['a'],
      'x-remote-extra-ex%2F%C3%A4%25': ['1', '2'],
      'x-remote-extra-x%EF%BF%BD': ['3'],
    })
  })
})

it('a proxied response drops hop-by-hop and CORS headers', () => {
  const headers = {
    connection: 'x-hop',
    'x-hop': '1',
    'keep-alive': 'timeout=5',
    'access-control-allow-origin': '*',
    'content-length': '5',
    warning: ['a', 'b'],
  }
  expect(forwardedResponse({ status: 200, headers, body: { kind: 'empty' } }).headers).toEqual({
    'content-length': '5',
    warning: ['a', 'b'],
  })
})
