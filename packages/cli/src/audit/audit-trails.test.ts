import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createApiServer } from '@krmkit/apiserver'
import { createInProcessClient, resourceType } from '@krmkit/client'
import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { afterEach, describe, expect, it } from 'vitest'
import type { ServeOptions } from '../serve-options.ts'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { createAuditTrails } from './audit-trails.ts'

const folder = temporaryFolder({ perTest: true })
let receiver: Server | undefined
afterEach(async () => {
  await new Promise((resolve) => (receiver === undefined ? resolve(undefined) : receiver.close(resolve)))
  receiver = undefined
})

const ConfigMap = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
const Secret = resourceType({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })

const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    resources: [{group: "", resources: [secrets]}]
  - level: Request
    verbs: [create]
`

async function optionsOf(...flags: string[]): Promise<ServeOptions> {
  const { options, err } = await runCommand(['serve', ...flags])
  if (options === undefined) throw new Error(err)
  return options
}

const logged: string[] = []
const log = { info: (text: string) => void logged.push(text), error: (text: string) => void logged.push(text) }
const environment = { clock: systemClock, random: systemRandom, profile: stockProfile, log }

/** Runs a server with the audit trails of the flags, creates a ConfigMap and a Secret, and closes it. */
async function requestsWith(...flags: string[]): Promise<void> {
  const trails = await createAuditTrails(await optionsOf(...flags), environment)
  const server = await createApiServer({ storage: memoryStorage(), audit: trails.trails })
  const client = createInProcessClient(server, { user: { username: 'jane', groups: ['dev'] }, clock: systemClock })
  for (const each of [ConfigMap, Secret]) await client.create(each, { metadata: { name: 'a', namespace: 'default' } })
  await client.list(ConfigMap)
  await server.close()
  await trails.close()
}

describe('audit flags', () => {
  it('write the events that the policy selects to a log', async () => {
    await writeFile(join(folder, 'policy.yaml'), policy)
    await requestsWith(`--audit-policy-file=${folder}/policy.yaml`, `--audit-log-path=${folder}/audit.log`)
    const lines = (await readFile(join(folder, 'audit.log'), 'utf8')).trim().split('\n')
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      kind: 'Event',
      level: 'Request',
      stage: 'ResponseComplete',
      verb: 'create',
      user: { username: 'jane' },
      objectRef: { resource: 'configmaps', name: 'a' },
      requestObject: { kind: 'ConfigMap' },
    })
  })

  it('send batches of events to a webhook', async () => {
    await writeFile(join(folder, 'policy.yaml'), policy)
    const bodies: string[] = []
    receiver = createServer((request, response) => {
      let text = ''
      request.on('data', (part) => {
        text += part
      })
      request.on('end', () => {
        bodies.push(text)
        response.end('{}')
      })
    })
    await new Promise<void>((resolve) => receiver?.listen(0, '127.0.0.1', resolve))
    const { port } = receiver.address() as AddressInfo
    const kubeconfig = {
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}/entries` } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }
    await writeFile(join(folder, 'webhook.kubeconfig'), JSON.stringify(kubeconfig))
    await requestsWith(`--audit-policy-file=${folder}/policy.yaml`, `--audit-webhook-config-file=${folder}/webhook.kubeconfig`)
    expect(bodies.map((body) => JSON.parse(body) as { kind: string; items: object[] })).toMatchObject([
      { kind: 'EventList', items: [{ verb: 'create', objectRef: { name: 'a' } }] },
    ])
  })

  it('disable auditing without a policy, and log it', async () => {
    logged.length = 0
    const { trails } = await createAuditTrails(await optionsOf(`--audit-log-path=${folder}/audit.log`), environment)
    expect(trails).toEqual([])
    expect(logged).toEqual(['auditing is disabled: --audit-policy-file is not set'])
  })

  it.each([
    ['is none', 'kind: Policy\n', 'invalid audit policy'],
    ['is no YAML', ']', '--audit-policy-file'],
  ])('reject a policy that %s', async (_, text, message) => {
    await writeFile(join(folder, 'policy.yaml'), text)
    await expect(createAuditTrails(await optionsOf(`--audit-policy-file=${folder}/policy.yaml`), environment)).rejects.toThrow(
      message,
    )
  })

  it('have the defaults of kube-apiserver', async () => {
    expect(await optionsOf()).toMatchObject({
      auditLogMode: 'blocking',
      auditLogFormat: 'json',
      auditLogBatchMaxSize: 1,
      auditWebhookMode: 'batch',
      auditWebhookBatchMaxSize: 400,
      auditWebhookBatchMaxWait: 30_000,
      auditWebhookBatchThrottleQps: 10,
      auditWebhookInitialBackoff: 10_000,
    })
  })
})
