import { type AdmissionDecision, defaultAdmissionPlugins } from '@krmkit/admission'
import { createApiServer } from '@krmkit/apiserver'
import { createInProcessClient, resourceType } from '@krmkit/client'
import { type ApiObject, seededRandom } from '@krmkit/meta'
import type { ApiRequest } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'

/** A complete server with the default plugins and no controllers. */

const user = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }
const core = <T extends ApiObject = ApiObject>(resource: string, kind: string, namespaced = true) =>
  resourceType<T>({ group: '', version: 'v1', resource, kind, namespaced })
const pods = core<ApiObject & { spec?: Record<string, unknown> }>('pods', 'Pod')
const accounts = core('serviceaccounts', 'ServiceAccount')
const classes = resourceType<ApiObject & { value?: number }>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
})
const place = { namespace: 'default' }
const pod = (name: string) => ({ metadata: { name, ...place }, spec: { containers: [{ name: 'c', image: 'i' }] } })

async function start() {
  const server = await createApiServer({ storage: memoryStorage(), random: seededRandom(1), admission: defaultAdmissionPlugins })
  const decisions: AdmissionDecision[] = []
  const client = createInProcessClient(server, {
    user,
    decisions: (decision: AdmissionDecision) => void decisions.push(decision),
  })
  await client.create(accounts, { metadata: { name: 'default', ...place } })
  decisions.splice(0)
  return { server, client, decisions, [Symbol.asyncDispose]: () => server.close() }
}

describe('a server with the default plugins', () => {
  it('reports decisions to an in-process caller', async () => {
    await using api = await start()
    await api.client.create(pods, pod('a'))
    const decisions = api.decisions.map(({ plugin, outcome, reasons, changes }) => [
      plugin,
      outcome,
      reasons.length > 0,
      changes.length > 0,
    ])
    expect(decisions).toEqual([
      ['ServiceAccount', 'changed', true, true],
      ['Priority', 'changed', true, true],
      ['DefaultTolerationSeconds', 'changed', true, true],
      ['PodSecurity', 'allowed', false, false],
    ])
    expect(api.decisions[1]?.changes).toContainEqual({ op: 'add', path: '/spec/priority', after: 0 })
    expect(api.decisions[3]?.annotations).toEqual({ 'pod-security.kubernetes.io/enforce-policy': 'privileged:latest' })
  })

  it('reports the refusing plugin, separately for each request', async () => {
    await using api = await start()
    await expect(
      api.client.create(pods, { ...pod('a'), spec: { ...pod('a').spec, serviceAccountName: 'none' } }),
    ).rejects.toThrow('not found')
    expect(api.decisions.map(({ plugin, outcome }) => [plugin, outcome])).toEqual([['ServiceAccount', 'refused']])
    const other: AdmissionDecision[] = []
    const body = new TextEncoder().encode(JSON.stringify(pod('b')))
    const request: ApiRequest = {
      method: 'POST',
      path: '/api/v1/namespaces/default/pods',
      query: 'dryRun=All',
      headers: { 'content-type': 'application/json' },
      body: async () => body,
      peer: {},
      signal: new AbortController().signal,
      user,
      decisions: (decision: AdmissionDecision) => void other.push(decision),
    }
    expect((await api.server.handle(request)).status).toBe(201)
    expect(other.length).toBeGreaterThan(2)
    expect(api.decisions).toHaveLength(1)
  })

  it('has the built-in priority classes, which cannot be deleted [P288]', async () => {
    await using api = await start()
    const named = async (name: string) => (await api.client.get(classes, name)).value
    expect([await named('system-node-critical'), await named('system-cluster-critical')]).toEqual([2_000_001_000, 2_000_000_000])
    await expect(api.client.delete(classes, 'system-node-critical')).rejects.toMatchObject({
      reason: 'Forbidden',
      message:
        'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
    })
    const made = await api.client.create(pods, {
      ...pod('a'),
      spec: { ...pod('a').spec, priorityClassName: 'system-node-critical' },
    })
    expect(made.spec?.priority).toBe(2_000_001_000)
  })

  it('does not change the sent object, and accepts it again', async () => {
    await using api = await start()
    const given = pod('a')
    const before = structuredClone(given)
    const made = await api.client.create(pods, given)
    expect(given).toEqual(before)
    const again = await api.client.update(pods, made)
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
  })
})
