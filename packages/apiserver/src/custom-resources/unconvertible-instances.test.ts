import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { afterEach, expect, it } from 'vitest'
import {
  at,
  type Body,
  type Call,
  closeServers,
  converted,
  definition,
  group,
  start,
  url,
  widget,
} from '../conversion/testing/converted-widgets.ts'
import { definitionsPath, eventually, widgetDefinition } from './testing/widgets.ts'

/** Deletion of definitions whose webhook fails to convert their instances. */

afterEach(closeServers)

type Conversion = 'works' | 'fails' | 'hangs'

/** A server with the definition of Widget and a webhook that can be broken. */
async function startBreakable(stored: 'v1' | 'v1beta1') {
  const webhook: { conversion: Conversion; failures: number } = { conversion: 'works', failures: 0 }
  const convert = (objects: readonly DeepReadonly<ApiObject>[], desired: string) => {
    if (webhook.conversion === 'fails') {
      webhook.failures++
      throw new Error('no widget')
    }
    if (webhook.conversion === 'hangs') return new Promise<never>(() => undefined)
    return objects.map((object) => converted(object, desired))
  }
  return { webhook, ...(await start({ inProcess: { [url]: convert } }, definition(stored))) }
}

const widgets = `${definitionsPath}/widgets.${group}`
const gears = (group: string) => {
  const schema = { openAPIV3Schema: { type: 'object' } }
  const made = widgetDefinition([{ schema }], { group, names: { plural: 'gears', kind: 'Gear' } })
  return { ...made, metadata: { name: `gears.${group}` } }
}
const isMissing = ({ code }: Body) => code === 404

it('deletes the instances of a definition without a conversion', async () => {
  const { webhook, call } = await startBreakable('v1beta1')
  await call('POST', at('v1beta1'), widget('a', { size: 1 }))
  webhook.conversion = 'fails'
  await call('DELETE', widgets)
  await eventually(() => call('GET', widgets), isMissing)
})

/** Changes the storage version of the definition. */
async function storeAs(version: 'v1' | 'v1beta1', call: Call): Promise<void> {
  const { spec } = definition(version) as Body
  const merge = { 'content-type': 'application/merge-patch+json' }
  await call('PATCH', widgets, { spec: { versions: spec.versions } }, merge)
  await eventually(
    () => call('GET', widgets),
    ({ status }) => status.storedVersions.length === 2,
  )
}

/** Instances in the former storage version. */
async function startOutdated() {
  const server = await startBreakable('v1beta1')
  const { call } = server
  for (const name of ['a', 'b']) await call('POST', at('v1beta1'), widget(name, { size: 1 }))
  await storeAs('v1', call)
  return server
}

it.each<Conversion>(['fails', 'hangs'])(
  'serves new definitions while a conversion that a deletion needs %s',
  async (conversion) => {
    const { webhook, call } = await startOutdated()
    webhook.conversion = conversion
    const groups = Array.from({ length: 4 }, (_, i) => `${i}.example.com`)
    await Promise.all([call('DELETE', widgets), ...groups.map((each) => call('POST', definitionsPath, gears(each)))])
    for (const each of groups)
      await eventually(
        () => call('GET', `/apis/${each}/v1/namespaces/default/gears`),
        ({ kind }) => kind === 'GearList',
      )
    expect((await call('GET', widgets)).metadata.deletionTimestamp).toBeDefined()
  },
)

it('continues a deletion that a failed conversion has stopped when the definition changes', async () => {
  const { webhook, call } = await startOutdated()
  webhook.conversion = 'fails'
  await call('DELETE', widgets)
  await eventually(
    () => call('GET', widgets),
    () => webhook.failures > 1,
  )
  webhook.conversion = 'works'
  await call('PATCH', widgets, { metadata: { labels: { a: 'b' } } }, { 'content-type': 'application/merge-patch+json' })
  await eventually(() => call('GET', widgets), isMissing)
})

it('retries a deletion that a failed conversion has stopped, and reports why it waits', async () => {
  const { webhook, call } = await startOutdated()
  webhook.conversion = 'fails'
  await call('DELETE', widgets)
  const failed = await eventually(
    () => call('GET', widgets),
    ({ status }) => status.conditions.some(({ reason }: Body) => reason === 'InstanceDeletionFailed'),
  )
  const { message } = failed.status.conditions.find(({ type }: Body) => type === 'Terminating')
  expect(message).toMatch(/^could not issue all deletes: .*no widget/)
  webhook.conversion = 'works'
  await eventually(() => call('GET', widgets), isMissing)
})

it('stores a terminating instance in the present storage version when it is deleted again', async () => {
  const { call } = await startBreakable('v1beta1')
  const finalizers = ['example.com/hold']
  await call('POST', at('v1beta1'), { ...widget('a', { size: 1 }), metadata: { name: 'a', finalizers } })
  const first = await call('DELETE', at('v1', 'a'))
  const again = await call('DELETE', at('v1', 'a'))
  expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
  await storeAs('v1', call)
  const moved = await eventually(
    () => call('DELETE', at('v1', 'a')),
    ({ metadata }) => metadata.resourceVersion !== first.metadata.resourceVersion,
  )
  expect((await call('DELETE', at('v1', 'a'))).metadata.resourceVersion).toBe(moved.metadata.resourceVersion)
})
