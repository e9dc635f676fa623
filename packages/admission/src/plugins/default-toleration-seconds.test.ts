import { type ApiObject, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createAdmissionChain } from '../chain.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import { attributesOf, contextOf } from '../testing/request.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'

async function admitted(plugin: AdmissionPlugin, resource: string, spec: object | undefined): Promise<unknown> {
  const object = { apiVersion: 'v1', kind: '', metadata: {}, ...(spec === undefined ? {} : { spec: Object.freeze(spec) }) }
  const result: ApiObject = await createAdmissionChain([plugin]).admit(object, attributesOf(resource), contextOf())
  return result['spec']
}

const toleration = (key: string) => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
})

describe('DefaultTolerationSeconds', () => {
  const plugin = defaultTolerationSeconds(stockProfile)
  const tolerations = async (given?: object[]) => {
    const spec = await admitted(plugin, 'pods', given === undefined ? {} : { tolerations: given })
    return (spec as { tolerations?: object[] }).tolerations
  }

  it('adds tolerations of five minutes', async () => {
    expect(await tolerations()).toEqual([toleration('not-ready'), toleration('unreachable')])
  })

  it('keeps the tolerations of the pod', async () => {
    const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }
    expect(await tolerations([own])).toEqual([own, toleration('unreachable')])
    const everything = { operator: 'Exists' }
    expect(await tolerations([everything])).toEqual([everything])
    const other = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoSchedule' }
    expect(await tolerations([other])).toEqual([other, toleration('not-ready'), toleration('unreachable')])
  })

  it('is idempotent', async () => {
    const once = await tolerations()
    expect(await tolerations(once)).toBe(once)
  })
})

describe('TaintNodesByCondition', () => {
  const plugin = taintNodesByCondition(stockProfile)
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

  it('taints a new node as not ready [P293]', async () => {
    expect(await admitted(plugin, 'nodes', undefined)).toEqual({ taints: [taint] })
    expect(await admitted(plugin, 'nodes', { taints: [{ key: 'own', effect: 'NoExecute' }] })).toEqual({
      taints: [{ key: 'own', effect: 'NoExecute' }, taint],
    })
  })

  it('does not duplicate the taint [P293]', async () => {
    const spec = { taints: [{ ...taint, value: 'x' }] }
    expect(await admitted(plugin, 'nodes', spec)).toBe(spec)
  })

  it('does not handle updates of nodes [P293]', () => {
    expect(plugin.handles(attributesOf('nodes'))).toBe(true)
    expect(plugin.handles(attributesOf('nodes', { operation: 'UPDATE' }))).toBe(false)
    expect(plugin.handles(attributesOf('nodes', { subresource: 'status' }))).toBe(false)
  })
})
