import { PassThrough } from 'node:stream'
import type { ApiResponse } from '@krmkit/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { administrator, readAll, requestOf } from '../testing/sample-server.ts'
import { createNode, createPod, podsPath, proxyingServer, streamed } from './testing/fake-backends.ts'

type Proxying = Awaited<ReturnType<typeof proxyingServer>>

const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1' }

let server: Proxying
beforeEach(async () => {
  server = await proxyingServer()
  await createNode(server, 'n', { addresses: [{ type: 'InternalIP', address: '10.9.0.1' }] })
  await createPod(server, 'p', { spec: { nodeName: 'n' } })
  return () => server.server.close()
})

const call = (target: string, headers: Readonly<Record<string, string>> = upgrade): Promise<ApiResponse> =>
  server.server.handle({ ...requestOf(target, { method: 'POST', headers, user: administrator }), upgradable: true })

describe('exec, attach and portforward', () => {
  it.each([
    [
      'exec?container=c&command=sh&command=-c&command=a+b&stdin=true&stdout=1&stderr=0&tty=true',
      '/exec/default/p/c?command=sh&command=-c&command=a+b&input=1&output=1&tty=1',
    ],
    ['attach?stdout=true&stderr=true', '/attach/default/p/c?error=1&output=1'],
    ['portforward?ports=80&ports=8080', '/portForward/default/p?port=80%2C8080'],
  ])('are tunnelled to the kubelet of the node: %s', async (request, path) => {
    const connection = new PassThrough()
    server.backends.handle = () => ({ status: 101, headers: upgrade, body: { kind: 'connection', connection } })
    expect(await call(`${podsPath}/p/${request}`)).toMatchObject({ status: 101, body: { connection } })
    expect(server.backends.last).toMatchObject({
      path,
      upgrade: true,
      address: { host: '10.9.0.1', port: 10_250 },
      target: { origin: 'https://10.9.0.1:10250' },
    })
  })

  it.each([
    ['p', {}, 400, 'Upgrade request required'],
    ['p', upgrade, 500, 'error dialing backend: connection refused'],
    ['unscheduled', upgrade, 400, 'pod unscheduled does not have a host assigned'],
    ['lost', upgrade, 404, 'pods "gone" not found'],
    ['homeless', upgrade, 500, 'no preferred addresses found; known addresses: []'],
  ])('of %s with %j fail with %i', async (pod, headers, code, message) => {
    server.backends.handle = () => Promise.reject(new Error('connection refused'))
    await createPod(server, 'unscheduled')
    await createPod(server, 'lost', { spec: { nodeName: 'gone' } })
    await createNode(server, 'empty', {})
    await createPod(server, 'homeless', { spec: { nodeName: 'empty' } })
    for (const subresource of ['exec', 'attach', 'portforward']) {
      const { status, body } = await call(`${podsPath}/${pod}/${subresource}`, headers)
      expect([status, JSON.parse(await readAll(body)).message], subresource).toEqual([code, message])
    }
  })

  it('are no dry run', async () => {
    const { body } = await call(`${podsPath}/p/exec?dryRun=All`)
    expect(JSON.parse(await readAll(body))).toMatchObject({ code: 400, message: 'dryRun is not supported' })
  })
})

describe('a kubelet whose address is neither an address nor a name', () => {
  it.each(['0177.0.0.1', '127.000.000.001', '2130706433', '0x7f.1', '::ffff:0177.0.0.1', 'a@127.0.0.1'])(
    'is not found: %s',
    async (address) => {
      const own = await proxyingServer()
      await createNode(own, 'n', { addresses: [{ type: 'InternalIP', address }] })
      await createPod(own, 'p', { spec: { nodeName: 'n' } })
      const bracketed = address.includes(':') ? `[${address}]` : address
      expect((await own.ask(`${podsPath}/p/log`)).json).toMatchObject({
        code: 500,
        message: `Get "https://${bracketed}:10250/containerLogs/default/p/c": dial tcp: lookup ${address}: no such host`,
      })
      const request = requestOf(`${podsPath}/p/exec?command=sh&stdout=1`, {
        method: 'POST',
        headers: upgrade,
        user: administrator,
      })
      const { body } = await own.server.handle({ ...request, upgradable: true })
      expect(JSON.parse(await readAll(body))).toMatchObject({
        code: 500,
        message: `error dialing backend: dial tcp: lookup ${address}: no such host`,
      })
      expect(own.backends.received).toEqual([])
      await own.server.close()
    },
  )
})

describe('the log of a container', () => {
  const log = (query = '') => server.ask(`${podsPath}/p/log${query}`)

  it('is streamed from the kubelet', async () => {
    server.backends.handle = () =>
      streamed(['one\n', 'two\n'], { headers: { 'content-type': 'application/json', 'x-other': '1' } })
    const query = '?follow=true&tailLines=5&sinceTime=2024-01-01T02:00:00%2B02:00&timestamps=true&previous=false&limitBytes=9'
    const { status, text, headers } = await log(query)
    expect([status, text, headers['content-type'], headers['x-other']]).toEqual([200, 'one\ntwo\n', 'text/plain', undefined])
    expect(server.backends.last).toMatchObject({
      method: 'GET',
      path: '/containerLogs/default/p/c?follow=true&limitBytes=9&sinceTime=2024-01-01T00%3A00%3A00Z&tailLines=5&timestamps=true',
      headers: { host: '10.9.0.1:10250' },
    })
  })

  it('accepts any certificate of the kubelet on demand', async () => {
    const own = await proxyingServer({ proxy: { kubelet: { ca: 'CA' } } })
    await createNode(own, 'n', { addresses: [{ type: 'InternalIP', address: '10.9.0.1' }] })
    await createPod(own, 'p', { spec: { nodeName: 'n' } })
    await own.ask(`${podsPath}/p/log`)
    expect(own.backends.last.target).toEqual({ origin: 'https://10.9.0.1:10250', ca: 'CA' })
    await own.ask(`${podsPath}/p/log?insecureSkipTLSVerifyBackend=true`)
    expect(own.backends.last.target).toEqual({ origin: 'https://10.9.0.1:10250', insecure: true })
    await own.server.close()
  })

  it.each([
    [400, 400, 'BadRequest', 'container "c" is waiting'],
    [500, 500, 'InternalError', 'Internal error occurred: container "c" is waiting'],
    [404, 404, 'NotFound', 'the server could not find the requested resource ( pods/log p)'],
    [302, 302, '', 'the server responded with the status code 302 but did not return more information ( pods/log p)'],
  ])('of a kubelet that answers %i is an error', async (answered, code, reason, message) => {
    server.backends.handle = () => streamed('container "c" is waiting', { status: answered })
    const { json } = await log()
    expect([json.code, json.reason ?? '', json.message]).toEqual([code, reason, message])
  })

  it('follows no redirect, and reports a kubelet that cannot be reached', async () => {
    server.backends.handle = () => streamed('', { status: 302, headers: { location: 'https://169.254.169.254/' } })
    expect((await log()).json).toMatchObject({ code: 500, message: 'redirects forbidden' })
    server.backends.handle = () => Promise.reject(new Error('dial tcp 10.9.0.1:10250: connect: connection refused'))
    expect((await log()).json).toMatchObject({
      code: 500,
      message: 'Get "https://10.9.0.1:10250/containerLogs/default/p/c": dial tcp 10.9.0.1:10250: connect: connection refused',
    })
  })

  it.each([
    ['tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', 422, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    ['stream=Stdout', 422, 'stream: Forbidden: may not be specified'],
    [
      'sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z',
      422,
      '[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['sinceTime=bad', 400, 'parsing time "bad" as "2006-01-02T15:04:05Z07:00": cannot parse "bad" as "2006"'],
    ['container=other', 400, 'container other is not valid for pod p'],
  ])('refuses %s', async (query, code, message) => {
    const invalid = code === 422 ? 'PodLogOptions "p" is invalid: ' : ''
    expect((await log(`?${query}`)).json).toMatchObject({ code, message: `${invalid}${message}` })
    expect(server.backends.received).toEqual([])
  })
})
