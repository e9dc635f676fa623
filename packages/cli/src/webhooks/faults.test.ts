import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAdmissionPlugins } from '@krmkit/admission'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { type AuditEvent, fixedAuditPolicy } from '@krmkit/apiserver/audit'
import { ensureServingCertificate, type ServingCertificate } from '@krmkit/certificates'
import { createWebhookTransport } from '@krmkit/http'
import { type FakeClock, fakeClock, seededRandom, stockProfile, systemRandom } from '@krmkit/meta'
import type { WebhookTransport } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { kubeconfigCredentials } from './kubeconfig-credentials.ts'
import { type FaultServer, faultServer } from './testing/fault-server.ts'

/** Responses, metrics and audit events of requests whose webhook fails. */

const day = 24 * 60 * 60 * 1000
const folder = temporaryFolder()
let good: ServingCertificate
let named: ServingCertificate
let expired: ServingCertificate
let stranger: ServingCertificate
let hooks: FaultServer
let namedHooks: FaultServer
let expiredHooks: FaultServer
let transport: WebhookTransport & Disposable

beforeAll(async () => {
  const make = (name: string, { now = Date.now(), hosts = [] as string[] } = {}) =>
    ensureServingCertificate(join(folder, name), {
      hosts,
      clock: { now: () => now },
      random: systemRandom,
      profile: stockProfile,
    })
  good = await make('good')
  named = await make('named', { hosts: ['hook.default.svc'] })
  expired = await make('expired', { now: Date.now() - 400 * day })
  stranger = await make('stranger')
  hooks = await faultServer(good)
  namedHooks = await faultServer(named)
  expiredHooks = await faultServer(expired)
})
afterAll(async () => {
  for (const server of [hooks, namedHooks, expiredHooks]) await server[Symbol.asyncDispose]()
})

let server: EmbeddedServer
let clock: FakeClock
let events: AuditEvent[]
beforeEach(async () => {
  transport = createWebhookTransport()
  clock = fakeClock(Date.now())
  events = []
  const webhooks = {
    transport,
    responseLimitBytes: 256 * 1024,
    // The webhook of these tests runs in this process.
    resolveService: ({ name }: { name: string }) => {
      if (name === 'hook') return { host: '127.0.0.1', port: namedHooks.port }
      throw new Error(`service ${JSON.stringify(name)} not found`)
    },
  }
  server = await createApiServer({
    storage: memoryStorage(),
    clock,
    random: seededRandom(1),
    admission: (parts) => createAdmissionPlugins({ ...parts, webhooks }, { disable: ['ServiceAccount'] }),
    audit: {
      policy: fixedAuditPolicy('Request', ['RequestReceived']),
      backend: { process: (batch) => void events.push(...batch) },
    },
  })
})
afterEach(async () => {
  transport[Symbol.dispose]()
  await server.close()
})

async function ask(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
  const answer = await server.handle({
    method,
    path,
    query: '',
    headers: { 'content-type': 'application/json' },
    body: async () => new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
    peer: {},
    signal: new AbortController().signal,
    user: { username: 'jane', groups: ['system:masters'] },
  })
  return { status: answer.status, text: answer.body.kind === 'bytes' ? new TextDecoder().decode(answer.body.bytes) : '' }
}

type Client = { url: string } | { service: object }
const at = (path: string): { clientConfig: Client & { caBundle: string } } => ({
  clientConfig: { url: `https://127.0.0.1:${hooks.port}${path}`, caBundle: btoa(good.authority) },
})
const resources = { admit: 'mutatingwebhookconfigurations', validating: 'validatingwebhookconfigurations' }

async function configure(type: 'admit' | 'validating', hook: object): Promise<void> {
  const group = 'admissionregistration.k8s.io'
  const { status, text } = await ask('POST', `/apis/${group}/v1/${resources[type]}`, {
    apiVersion: `${group}/v1`,
    kind: type === 'admit' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration',
    metadata: { name: 'c' },
    webhooks: [
      {
        name: 'hook.example.com',
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 2,
        ...hook,
      },
    ],
  })
  expect([status, text]).toEqual([201, expect.anything()])
  events.length = 0
}

const create = () =>
  ask('POST', '/api/v1/namespaces/default/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', labels: { t: 'x' } },
  })

async function metricsOf(name: string): Promise<string[]> {
  const { text } = await ask('GET', '/metrics')
  return text.split('\n').filter((line) => line.startsWith(`apiserver_admission_webhook_${name}{`))
}

const post = (origin: string, path: string) => `failed to call webhook: Post "${origin}${path}?timeout=2s": `
const toHooks = (path: string) => post(`https://127.0.0.1:${hooks.port}`, path)

interface Fault {
  readonly hook: () => object
  /** The message to the client, after the name of the webhook. */
  readonly message: () => string | RegExp
  readonly code?: number
  /** The fault is a timeout. */
  readonly waits?: boolean
}

const faults: Readonly<Record<string, Fault>> = {
  'refused connection': {
    hook: () => ({ clientConfig: { url: 'https://127.0.0.1:1/x', caBundle: btoa(good.authority) } }),
    message: () => `${post('https://127.0.0.1:1', '/x')}dial tcp 127.0.0.1:1: connect: connection refused`,
  },
  reset: { hook: () => at('/reset'), message: () => /: (EOF|read tcp .*: read: connection reset by peer)$/ },
  'closed connection': { hook: () => at('/hang-up'), message: () => `${toHooks('/hang-up')}EOF` },
  'slow headers': {
    hook: () => at('/slow-headers'),
    message: () => `${toHooks('/slow-headers')}context deadline exceeded`,
    waits: true,
  },
  'slow body': { hook: () => at('/slow-body'), message: () => `${toHooks('/slow-body')}context deadline exceeded`, waits: true },
  'huge body': { hook: () => at('/huge'), message: () => `${toHooks('/huge')}the response is longer than 262144 bytes` },
  'body cut off': { hook: () => at('/cut-off'), message: () => `${toHooks('/cut-off')}unexpected EOF` },
  'truncated JSON': {
    hook: () => at('/truncated'),
    message: () => /failed to call webhook: couldn't get version\/kind; json parse error: /,
  },
  'wrong uid': {
    hook: () => at('/wrong-uid'),
    message: () => /received invalid webhook response: expected response.uid="[-0-9a-f]+", got "another"/,
    code: 503,
  },
  'wrong version': { hook: () => at('/wrong-version'), message: () => /unknown conversion$/ },
  'wrong kind': { hook: () => at('/wrong-kind'), message: () => /no kind "Review" is registered/ },
  'wrong type of a member': { hook: () => at('/wrong-type'), message: () => /response.allowed of type bool$/ },
  'status 500': {
    hook: () => at('/status-500'),
    message: () => 'failed to call webhook: an error on the server ("out of order") has prevented the request from succeeding',
    code: 500,
  },
  'expired certificate': {
    hook: () => ({
      clientConfig: { url: `https://127.0.0.1:${expiredHooks.port}/fine`, caBundle: btoa(expired.authority) },
    }),
    message: () => /tls: failed to verify certificate: x509: certificate has expired or is not yet valid$/,
  },
  'wrong name': {
    hook: () => ({
      clientConfig: { service: { namespace: 'other', name: 'hook', path: '/fine' }, caBundle: btoa(named.authority) },
    }),
    message: () => /x509: certificate is valid for .*hook\.default\.svc.*, not hook\.other\.svc$/,
  },
  'wrong authority': {
    hook: () => ({ clientConfig: { url: `https://127.0.0.1:${hooks.port}/fine`, caBundle: btoa(stranger.authority) } }),
    message: () => /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
  },
  'unusable authority': {
    hook: () => ({ clientConfig: { url: `https://127.0.0.1:${hooks.port}/fine`, caBundle: btoa('nonsense') } }),
    message: () => 'could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
  },
  'missing service': {
    hook: () => ({ clientConfig: { service: { namespace: 'default', name: 'gone' }, caBundle: btoa(good.authority) } }),
    message: () => `${post('https://gone.default.svc:443', '/')}service "gone" not found`,
  },
}

/** Sends a request whose webhook fails, and advances the clock for timeouts. */
async function failing({ waits = false }: Fault): Promise<{ status: number; text: string }> {
  const called = hooks.called()
  const answered = create()
  if (waits) {
    await called
    clock.advance(2000)
  }
  return answered
}

describe.each(Object.entries(faults))('%s', (_, fault) => {
  describe.each(['admit', 'validating'] as const)('of a %s webhook', (type) => {
    it('fails the request by default [P82] [P307] [P320]', async () => {
      await configure(type, fault.hook())
      const { status, text } = await failing(fault)
      const failure = JSON.parse(text) as { message: string; reason: string; details: { causes: { message: string }[] } }
      expect([status, failure.reason]).toEqual([500, 'InternalError'])
      const [cause = { message: '' }] = failure.details.causes
      const start = 'failed calling webhook "hook.example.com": '
      expect(failure.message).toBe(`Internal error occurred: ${cause.message}`)
      expect(cause.message.startsWith(start)).toBe(true)
      const message = fault.message()
      const rest = cause.message.slice(start.length)
      if (typeof message === 'string') expect(rest).toBe(message)
      else expect(rest).toMatch(message)

      const failed = `error_type="calling_webhook_error",name="hook.example.com",operation="CREATE"`
      expect(await metricsOf('rejection_count')).toEqual([
        `apiserver_admission_webhook_rejection_count{${failed},rejection_code="${fault.code ?? 400}",type="${type}"} 1`,
      ])
      expect(await metricsOf('fail_open_count')).toEqual([])
      const [event] = events
      expect(event).toMatchObject({
        verb: 'create',
        responseStatus: { code: 500, reason: 'InternalError', message: failure.message },
      })
      expect(event?.annotations?.['mutation.webhook.admission.k8s.io/round_0_index_0']).toBe(
        type === 'admit' ? '{"configuration":"c","webhook":"hook.example.com","mutated":false}' : undefined,
      )
    })

    it('is ignored with failurePolicy Ignore [P82] [P307] [P320]', async () => {
      await configure(type, { ...fault.hook(), failurePolicy: 'Ignore' })
      const { status } = await failing(fault)
      expect(status).toBe(201)
      expect(await metricsOf('rejection_count')).toEqual([])
      expect(await metricsOf('fail_open_count')).toEqual([
        `apiserver_admission_webhook_fail_open_count{name="hook.example.com",type="${type}"} 1`,
      ])
      expect(await metricsOf('request_total')).toEqual([
        `apiserver_admission_webhook_request_total{code="${fault.code ?? 400}",name="hook.example.com",operation="CREATE",rejected="false",type="${type}"} 1`,
      ])
      const key = `failed-open.${type === 'admit' ? 'mutation' : 'validating'}.webhook.admission.k8s.io/round_0_index_0`
      expect(events[0]).toMatchObject({ responseStatus: { code: 201 }, annotations: { [key]: 'hook.example.com' } })
    })
  })
})

describe.each(['Fail', 'Ignore'])('with policy %s', (failurePolicy) => {
  it('a patch outside of the object is a server error [P58] [P307]', async () => {
    await configure('admit', { ...at('/patch-outside'), failurePolicy })
    const { status, text } = await create()
    expect([status, text]).toEqual([500, expect.stringContaining('replace operation does not apply')])
    expect((await metricsOf('rejection_count'))[0]).toMatch(/error_type="apiserver_internal_error",.*,rejection_code="0"/)
    expect(events[0]).toMatchObject({
      responseStatus: { code: 500 },
      annotations: { 'mutation.webhook.admission.k8s.io/round_0_index_0': expect.stringContaining('"mutated":false') },
    })
    expect(Object.keys(events[0]?.annotations ?? {})).not.toContain('patch.webhook.admission.k8s.io/round_0_index_0')
  })

  it('a patch that makes the object invalid is rejected like an invalid request [P58] [P306]', async () => {
    await configure('admit', { ...at('/patch-invalid'), failurePolicy })
    const { status, text } = await create()
    expect([status, text]).toEqual([422, expect.stringContaining('data[not a key]')])
    expect(await metricsOf('rejection_count')).toEqual([])
    expect(events[0]).toMatchObject({
      responseStatus: { code: 422, reason: 'Invalid' },
      annotations: {
        'mutation.webhook.admission.k8s.io/round_0_index_0': expect.stringContaining('"mutated":true'),
        'patch.webhook.admission.k8s.io/round_0_index_0': expect.stringContaining('not a key'),
      },
    })
  })
})

describe('webhooks that authenticate the server', () => {
  it('receive the certificate and the token of the configured kubeconfig [P77]', async () => {
    const kubeConfigFile = join(folder, 'hooks.kubeconfig')
    await writeFile(join(folder, 'token'), 'first\n')
    const user = { 'client-certificate-data': btoa(named.certificate), 'client-key-data': btoa(named.key), tokenFile: 'token' }
    await writeFile(
      kubeConfigFile,
      JSON.stringify({
        users: [
          { name: '127.0.0.1:*', user: {} },
          { name: '*', user },
        ],
      }),
    )
    const configuration = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration', kubeConfigFile }
    const webhooks = { transport, credentials: kubeconfigCredentials }
    await server.close()
    server = await createApiServer({
      storage: memoryStorage(),
      admission: (parts) =>
        createAdmissionPlugins(
          { ...parts, webhooks },
          { disable: ['ServiceAccount'], configuration: new Map([['MutatingAdmissionWebhook', configuration]]) },
        ),
    })
    await configure('admit', at('/who'))
    const annotations = async () =>
      (JSON.parse((await create()).text) as { metadata: { annotations: object } }).metadata.annotations
    expect(await annotations()).toEqual({ authorization: 'Bearer first', subject: 'kube-apiserver' })
    await writeFile(join(folder, 'token'), 'second\n')
    await ask('DELETE', '/api/v1/namespaces/default/configmaps/a')
    expect(await annotations()).toEqual({ authorization: 'Bearer second', subject: 'kube-apiserver' })
  })
})

describe('working webhooks', () => {
  it('are called by URL, and by the name of their service [P43] [P84]', async () => {
    await configure('admit', at('/fine'))
    expect(JSON.parse((await create()).text)).toMatchObject({ metadata: { labels: { t: 'x', seen: 'yes' } } })
    await ask('DELETE', '/api/v1/namespaces/default/configmaps/a')
    await ask('DELETE', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/c')
    await configure('admit', {
      clientConfig: { service: { namespace: 'default', name: 'hook', path: '/fine' }, caBundle: btoa(named.authority) },
    })
    expect(JSON.parse((await create()).text)).toMatchObject({ metadata: { labels: { seen: 'yes' } } })
  })

  it('are called over a persistent connection', async () => {
    await configure('admit', at('/fine'))
    const before = hooks.connections
    for (let i = 0; i < 5; i++) {
      expect((await create()).status).toBe(201)
      await ask('DELETE', '/api/v1/namespaces/default/configmaps/a')
    }
    expect(hooks.connections - before).toBe(1)
  })

  it('apply to the next request after their configuration', async () => {
    expect((await create()).status).toBe(201)
    await ask('DELETE', '/api/v1/namespaces/default/configmaps/a')
    await configure('admit', at('/status-500'))
    expect((await create()).status).toBe(500)
    await ask('DELETE', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/c')
    expect((await create()).status).toBe(201)
  })
})
