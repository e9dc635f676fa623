import { afterEach, describe, expect, it } from 'vitest'
import { definitionsPath } from '../custom-resources/testing/widgets.ts'
import { at, type Body, closeServers, counting, definition, group, start, widget } from './testing/converted-widgets.ts'

afterEach(closeServers)

describe('versions converted by webhooks', () => {
  it('are read and written in the version of the request, and stored in the storage version', async () => {
    const { reach } = counting()
    const { call, storage } = await start(reach)
    const made = await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    expect(made).toMatchObject({ apiVersion: `${group}/v1beta1`, size: 3, metadata: { generation: 1 } })
    expect(made).not.toHaveProperty('spec')
    expect((await call('GET', at('v1', 'a'))).spec).toEqual({ size: 3 })
    const { entries } = await storage.list({ prefix: `/${group}/widgets/` })
    expect(JSON.parse(new TextDecoder().decode(entries[0]!.value))).toMatchObject({
      apiVersion: `${group}/v1`,
      spec: { size: 3 },
    })
    const merge = { 'content-type': 'application/merge-patch+json' }
    const patched = await call('PATCH', at('v1beta1', 'a'), { size: 4 }, merge)
    expect(patched).toMatchObject({ size: 4, metadata: { generation: 2 } })
    const again = await call('PATCH', at('v1beta1', 'a'), { size: 4 }, merge)
    expect(again.metadata.resourceVersion).toBe(patched.metadata.resourceVersion)
    expect((await call('PUT', at('v1beta1', 'a'), { ...patched, size: 0 })).details.causes[0].field).toBe('size')
    expect((await call('DELETE', at('v1beta1', 'a'))).status).toBe('Success')
  })

  it('need one call per list, one conversion per revision, and none for the storage version', async () => {
    const { reach, calls } = counting()
    const { call } = await start(reach)
    for (const name of ['a', 'b', 'c']) await call('POST', at('v1'), widget(name, { spec: { size: 1 } }, 'v1'))
    expect(calls).toEqual([])
    expect((await call('GET', at('v1beta1'))).items.map((item: Body) => item.size)).toEqual([1, 1, 1])
    expect(calls).toEqual([3])
    await call('GET', at('v1beta1'))
    await call('GET', at('v1beta1', 'b'))
    expect(calls).toEqual([3])
  })

  it('are converted to the storage version and back by dry runs', async () => {
    const { reach, calls } = counting()
    const { call } = await start(reach)
    const dry = async (method: string, version: string, body: object, type = 'application/json') => {
      calls.length = 0
      const path = at(version, method === 'POST' ? undefined : 'a')
      const answer = await call(method, path, body, { 'content-type': type }, 'dryRun=All')
      return [answer.size ?? answer.spec.size, calls.length]
    }
    expect(await dry('POST', 'v1beta1', widget('a', { size: 3 }))).toEqual([3, 2])
    expect(await dry('POST', 'v1', widget('a', { spec: { size: 3 } }, 'v1'))).toEqual([3, 0])
    await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    expect(await dry('PATCH', 'v1beta1', { size: 4 }, 'application/merge-patch+json')).toEqual([4, 2])
    expect((await call('GET', at('v1beta1', 'a'))).size).toBe(3)
  })

  it('have columns, selectable fields and watch events of the version of the request', async () => {
    const { reach } = counting()
    const { call } = await start(reach, definition('v1beta1'))
    await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    await call('POST', at('v1beta1'), widget('b', { size: 4 }))
    const table = await call('GET', at('v1'), undefined, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })
    expect(table.rows.map(({ cells }: Body) => cells)).toEqual([
      ['a', 3],
      ['b', 4],
    ])
    expect(
      (await call('GET', at('v1'), undefined, {}, 'fieldSelector=spec.size%3D4')).items.map((i: Body) => i.metadata.name),
    ).toEqual(['b'])
    const stream = (await call('GET', at('v1'), undefined, {}, 'watch=true&resourceVersion=0')) as AsyncIterable<Uint8Array>
    let text = ''
    for await (const piece of stream) {
      text += new TextDecoder().decode(piece)
      if (text.trimEnd().split('\n').length === 2) break
    }
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Body)
    expect(events.map(({ object }) => [object.apiVersion, object.spec.size])).toEqual([
      [`${group}/v1`, 3],
      [`${group}/v1`, 4],
    ])
  })

  it('allow a change of the storage version: old objects are readable, and rewritten on update', async () => {
    const { reach } = counting()
    const { call, storage } = await start(reach, definition('v1beta1'))
    await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    const old = await call('GET', `${definitionsPath}/widgets.${group}`)
    const { spec } = definition('v1') as Body
    const put = await call('PUT', `${definitionsPath}/widgets.${group}`, {
      ...old,
      spec: { ...old.spec, versions: spec.versions },
    })
    expect(put.status.storedVersions).toEqual(['v1beta1', 'v1'])
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    const shown = await call('GET', at('v1', 'a'))
    expect(shown.spec).toEqual({ size: 3 })
    const written = await call('PUT', at('v1', 'a'), shown)
    expect(written.metadata.resourceVersion).not.toBe(shown.metadata.resourceVersion)
    const { entries } = await storage.list({ prefix: `/${group}/widgets/` })
    expect(new TextDecoder().decode(entries[0]!.value)).toContain(`"apiVersion":"${group}/v1"`)
  })
})
