import { type ChildProcess, spawn } from 'node:child_process'
import { copyFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createAdmissionPlugins } from '@krmkit/admission'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { ensureServingCertificate } from '@krmkit/certificates'
import { createWebhookTransport } from '@krmkit/http'
import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { goProgram } from './support/go-program.ts'
import { freePort } from './support/server-process.ts'

/**
 * An unmodified controller-runtime webhook, in a program that is built once (`controller-runtime/`). Skipped without Go or a
 * module proxy.
 */

const program = await goProgram('controller-runtime')

const isMissing = program.missing !== undefined
const group = 'admissionregistration.k8s.io'
const transport = createWebhookTransport()
const folder = temporaryFolder()
let hook: ChildProcess
let port: number
let server: EmbeddedServer

beforeAll(async () => {
  if (isMissing) return
  const { authority } = await ensureServingCertificate(folder, {
    clock: systemClock,
    random: systemRandom,
    profile: stockProfile,
  })
  await copyFile(join(folder, 'apiserver.crt'), join(folder, 'tls.crt'))
  await copyFile(join(folder, 'apiserver.key'), join(folder, 'tls.key'))
  port = await freePort()
  hook = spawn(program.path, [folder, String(port)], { stdio: ['ignore', 'ignore', 'pipe'] })
  await reachable(port)
  server = await createApiServer({
    storage: memoryStorage(),
    admission: (parts) => createAdmissionPlugins({ ...parts, webhooks: { transport } }, { disable: ['ServiceAccount'] }),
  })
  const webhook = (name: string, groups: string, resource: string, operations: readonly string[]) => ({
    name: `${name}.example.com`,
    clientConfig: { url: `https://127.0.0.1:${port}/${name}`, caBundle: btoa(authority) },
    rules: [{ operations, apiGroups: [groups], apiVersions: ['v1'], resources: [resource] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    objectSelector: { matchLabels: { hook: 'yes' } },
  })
  const all = ['CREATE', 'UPDATE', 'DELETE']
  await configure('Mutating', [
    webhook('mutate-configmap', '', 'configmaps', ['CREATE', 'UPDATE']),
    webhook('mutate-deployment', 'apps', 'deployments', ['CREATE']),
  ])
  await configure('Validating', [webhook('validate-configmap', '', 'configmaps', all)])
})

afterAll(async () => {
  transport[Symbol.dispose]()
  if (isMissing) return
  await server.close()
  const gone = new Promise((resolve) => hook.once('exit', resolve))
  hook.kill('SIGKILL')
  await gone
})

/** Waits until the port accepts connections. */
async function reachable(at: number): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(at, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.once('error', () => resolve(false))
    })
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the webhook does not listen')
}

async function configure(kind: 'Mutating' | 'Validating', webhooks: readonly object[]): Promise<void> {
  const path = `/apis/${group}/v1/${kind.toLowerCase()}webhookconfigurations`
  const configuration = { apiVersion: `${group}/v1`, kind: `${kind}WebhookConfiguration`, metadata: { name: 'hook' }, webhooks }
  expect((await sendRequest('POST', path, configuration)).status).toBe(201)
}

interface Answer {
  readonly status: number
  readonly warning: unknown
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect arbitrary responses
  readonly body: any
}

async function sendRequest(method: string, path: string, body?: object, type = 'application/json'): Promise<Answer> {
  const response = await server.handle({
    method,
    path,
    query: '',
    headers: { 'content-type': type },
    body: async () => new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
    peer: {},
    signal: new AbortController().signal,
    user: { username: 'jane', groups: ['system:masters'] },
  })
  const text = response.body.kind === 'bytes' ? new TextDecoder().decode(response.body.bytes) : '{}'
  return { status: response.status, warning: response.headers['warning'], body: JSON.parse(text) }
}

const collection = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, data: object = {}, labels: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { hook: 'yes', ...labels } },
  data,
})

describe.skipIf(isMissing)(`a webhook on controller-runtime${isMissing ? ` (skipped: ${program.missing})` : ''}`, () => {
  it('applies the defaulter [P43, P58]', async () => {
    const { status, body } = await sendRequest('POST', collection, configMap('a'))
    expect(status).toBe(201)
    expect(body.data).toEqual({ size: '1' })
    expect(body.metadata.labels).toEqual({ hook: 'yes', 'asked-by': 'jane' })
  })

  it('changes objects inside lists [P58]', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', labels: { hook: 'yes' } },
      spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec } },
    }
    const { body } = await sendRequest('POST', '/apis/apps/v1/namespaces/default/deployments', deployment)
    expect(body.spec.template.spec.containers[0].env).toEqual([{ name: 'FROM_HOOK', value: 'yes' }])
  })

  it('refuses with a custom status [P56, P319]', async () => {
    const { status, body } = await sendRequest('POST', collection, configMap('b', { forbidden: 'x' }))
    expect(status).toBe(422)
    expect(body).toMatchObject({
      reason: 'Invalid',
      message: expect.stringContaining(
        'admission webhook "validate-configmap.example.com" denied the request: ConfigMap "b" is invalid',
      ),
      details: { name: 'b', kind: 'ConfigMap', causes: [{ field: 'data[forbidden]', reason: 'FieldValueInvalid' }] },
    })
  })

  it('warns [P59]', async () => {
    const { status, warning } = await sendRequest('POST', collection, configMap('c', { odd: 'x' }))
    expect([status, warning]).toEqual([201, ['299 - "odd is odd"']])
  })

  it('receives both objects of an update [P47]', async () => {
    const patch = { data: { size: '2' } }
    const { status, body } = await sendRequest('PATCH', `${collection}/a`, patch, 'application/merge-patch+json')
    expect([status, body.message]).toEqual([
      403,
      'admission webhook "validate-configmap.example.com" denied the request: size stays as it is',
    ])
    expect((await sendRequest('PATCH', `${collection}/a`, { data: { k: 'v' } }, 'application/merge-patch+json')).status).toBe(200)
  })

  it('receives the object of a deletion [P50]', async () => {
    await sendRequest('POST', collection, configMap('k', {}, { keep: 'yes' }))
    const { status, warning } = await sendRequest('DELETE', `${collection}/k`)
    expect([status, warning]).toEqual([403, ['299 - "it is kept"']])
    expect((await sendRequest('DELETE', `${collection}/a`)).status).toBe(200)
  })
})
