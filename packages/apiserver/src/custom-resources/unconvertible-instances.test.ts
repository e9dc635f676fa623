import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { afterEach, expect, it } from 'vitest'
import {
  at,
  type Body,
  closeServers,
  converted,
  definition,
  group,
  start,
  url,
  widget,
} from '../conversion/testing/converted-widgets.ts'
import { definitionsPath, eventually, widgetDefinition } from './testing/widgets.ts'

/** Deletion of definitions whose webhook does not convert their instances. */

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

/** Instances in the former storage version. */
async function startOutdated() {
  const server = await startBreakable('v1beta1')
  const { call } = server
  for (const name of ['a', 'b']) await call('POST', at('v1beta1'), widget(name, { size: 1 }))
  const { spec } = definition('v1') as Body
  const merge = { 'content-type': 'application/merge-patch+json' }
  await call('PATCH', widgets, { spec: { versions: spec.versions } }, merge)
  await eventually(
    () => call('GET', widgets),
    ({ status }) => status.storedVersions.length === 2,
  )
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

it('continues a deletion that a conversion has stopped when the definition changes', async () => {
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
