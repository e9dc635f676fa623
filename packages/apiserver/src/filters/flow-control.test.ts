import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const path = '/apis/flowcontrol.apiserver.k8s.io/v1'
const all = ['*']
const level = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'PriorityLevelConfiguration', metadata: { name: 'few' } }
const limited = { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } }
const schema = {
  apiVersion: level.apiVersion,
  kind: 'FlowSchema',
  metadata: { name: 'own' },
  spec: {
    matchingPrecedence: 10,
    priorityLevelConfiguration: { name: 'few' },
    rules: [
      {
        subjects: [{ kind: 'Group', group: { name: '*' } }],
        resourceRules: [{ verbs: all, apiGroups: [''], resources: all, clusterScope: true, namespaces: all }],
      },
    ],
  },
}
const told = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => [
  headers['x-kubernetes-pf-flowschema-uid'],
  headers['x-kubernetes-pf-prioritylevel-uid'],
]

describe('flow control', () => {
  it('tells the flow schema and the priority level of every request, also of one that fails', async () => {
    const { ask } = await sampleServer({ flowControl: true })
    expect(told(await ask('/api/v1/namespaces'))).toEqual([undefined, undefined])
    const own = (await ask(`${path}/flowschemas`, { method: 'POST', body: schema })).json
    expect(told(await ask('/api/v1/namespaces'))).toEqual([undefined, undefined])
    const few = (await ask(`${path}/prioritylevelconfigurations`, { method: 'POST', body: { ...level, spec: limited } })).json
    const expected = [own.metadata.uid, few.metadata.uid]
    expect(told(await ask('/api/v1/namespaces'))).toEqual(expected)
    const missing = await ask('/api/v1/namespaces/none')
    expect([missing.status, ...told(missing)]).toEqual([404, ...expected])
    expect(told(await ask('/version'))).toEqual([undefined, undefined])
    await ask(`${path}/prioritylevelconfigurations/few`, { method: 'DELETE' })
    expect(told(await ask('/api/v1/namespaces'))).toEqual([undefined, undefined])
  })

  it('metrics tell how many requests at a time fall to each priority level, by its shares', async () => {
    const { ask } = await sampleServer({ flowControl: true, limits: { readOnlyInFlight: 60, mutatingInFlight: 40 } })
    const make = (name: string, spec: object) =>
      ask(`${path}/prioritylevelconfigurations`, { method: 'POST', body: { ...level, metadata: { name }, spec } })
    await make('few', limited)
    await make('more', { type: 'Limited', limited: { ...limited.limited, nominalConcurrencyShares: 2 } })
    await make('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } })
    const { text } = await ask('/metrics')
    const seats = text.split('\n').filter((line) => line.startsWith('apiserver_flowcontrol_nominal_limit_seats{'))
    expect(seats.map((line) => line.slice('apiserver_flowcontrol_nominal_limit_seats'.length)).sort()).toEqual([
      '{priority_level="exempt"} 0',
      '{priority_level="few"} 34',
      '{priority_level="more"} 67',
    ])
  })

  it('tells nothing unless it is asked to', async () => {
    const { ask } = await sampleServer()
    await ask(`${path}/flowschemas`, { method: 'POST', body: schema })
    expect(told(await ask('/api/v1/namespaces'))).toEqual([undefined, undefined])
  })
})
