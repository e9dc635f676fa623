import { turnsDuring } from '@krmkit/base/testing'
import { maxSelectorTerms } from '@krmkit/meta/selectors'
import { beforeAll, describe, expect, it } from 'vitest'
import { eventually, widget } from '../custom-resources/testing/widgets.ts'
import { type Answer, type Asking, administrator, requestOf, type SampleServer, sampleServer } from '../testing/sample-server.ts'

const place = '/api/v1/namespaces/default/configmaps'
const count = 8000
const form = 'g=meta.k8s.io;v=v1'

let sample: SampleServer

beforeAll(async () => {
  sample = await sampleServer()
  for (let i = 0; i < count; i++) {
    const name = `c${i}`
    const labels = { app: `v${i % 10}`, rank: String(i) }
    await sample.storage.put(`/core/configmaps/default/${name}`, (revision) => {
      const metadata = { name, namespace: 'default', uid: `u${i}`, resourceVersion: String(revision), labels }
      return Buffer.from(
        `${JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { text: `${i} `.repeat(100) } })}\n`,
      )
    })
  }
})

const ask = (query: string, asking?: Asking): Promise<Answer> => sample.ask(`${place}${query}`, asking)
const terms = (length: number, make: (i: number) => string) =>
  encodeURIComponent(Array.from({ length }, (_, i) => make(i)).join(','))

describe('long reads yield to other requests', () => {
  it.each([
    ['YAML', '', 'application/yaml'],
    ['pretty JSON', '?pretty=true', 'application/json'],
    ['a table', '', `application/json;as=Table;${form}`],
    ['a table with objects as YAML', '?includeObject=Object', `application/yaml;as=Table;${form}`],
    ['protobuf', '', 'application/vnd.kubernetes.protobuf'],
  ])('a list as %s', async (_, query, accept) => {
    const { result, turns } = await turnsDuring(() => ask(query, { headers: { accept } }))
    expect(result.status).toBe(200)
    expect(result.text.length).toBeGreaterThan(count * 100)
    expect(turns).toBeGreaterThan(2)
  })

  it('a list with a long selector', async () => {
    const { result, turns } = await turnsDuring(() => ask(`?labelSelector=${terms(2000, (i) => `key${i}!=w`)}`))
    expect(result.json.items).toHaveLength(count)
    // Matching is fast at any length; the read yields before it, because parsing the selector has used part of its slice.
    expect(turns).toBeGreaterThan(0)
  })

  it('the initial state of a watch', async () => {
    const { turns } = await turnsDuring(async () => {
      const { body } = await sample.server.handle(
        requestOf(`${place}?watch=true&resourceVersion=0`, {
          user: administrator,
          headers: { accept: `application/json;as=Table;${form}` },
        }),
      )
      if (body.kind !== 'stream') throw new Error(body.kind)
      let text = ''
      for await (const piece of body.stream) {
        expect(piece.byteLength).toBeLessThan(512 * 1024)
        text += new TextDecoder().decode(piece)
        if (text.split('"type":"ADDED"').length > count) break
      }
    })
    expect(turns).toBeGreaterThan(2)
  })
})

describe('a large object', () => {
  it.each([
    ['application/yaml', ''],
    ['application/json', '?pretty=1'],
  ])('is printed as %s in slices', async (accept, query) => {
    const data = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, `'${i}`]))
    const name = `large-${query.length}`
    expect((await ask('', { method: 'POST', body: { metadata: { name }, data } })).status).toBe(201)
    const { result, turns } = await turnsDuring(() => ask(`/${name}${query}`, { headers: { accept } }))
    expect(result.text).toContain('k29999')
    expect(turns).toBeGreaterThan(1)
    expect((await ask(`/${name}`, { method: 'DELETE' })).status).toBe(200)
  })
})

describe('pretty JSON', () => {
  it('keeps escapes and member order, and ends without a newline', async () => {
    const body = { metadata: { name: 'marks' }, data: { '10': 'a<b', '9': '' } }
    await ask('', { method: 'POST', body })
    const { text, json } = await ask('/marks?pretty=true')
    expect(text.endsWith('\n  "data": {\n    "10": "a\\u003cb",\n    "9": ""\n  }\n}')).toBe(true)
    expect(json).toEqual((await ask('/marks')).json)
    const { text: list } = await ask('?pretty=true&fieldSelector=metadata.name%3Dmarks')
    expect(list).toContain('    {\n      "metadata": {\n        "name": "marks",')
    expect((await ask('?pretty=true&fieldSelector=metadata.name%3Dnone')).text.endsWith('\n  "items": []\n}')).toBe(true)
    await ask('/marks', { method: 'DELETE' })
  })
})

describe('selectors of requests', () => {
  it('are refused with too many terms, for every verb and naming the parameter', async () => {
    const labels = `labelSelector=${terms(maxSelectorTerms + 1, () => 'a')}`
    const fields = `fieldSelector=${terms(maxSelectorTerms / 2 + 1, (i) => `metadata.name!=n${i}`)}`
    for (const [query, parameter] of [
      [labels, 'labelSelector'],
      [fields, 'fieldSelector'],
    ] as const) {
      for (const asking of [{}, { method: 'DELETE' }] as const) {
        const { status, json } = await ask(`?${query}`, asking)
        expect([status, json.message]).toEqual([
          400,
          `${parameter}: Too many: must have at most ${maxSelectorTerms} terms and values`,
        ])
      }
      expect((await ask(`?watch=true&${query}`)).status).toBe(400)
    }
  })

  it('match the same objects at any length', async () => {
    const padding = terms(2000, (i) => `rank!=x${i}`)
    const namesOf = (answer: Answer) => answer.json.items.map((item: { metadata: { name: string } }) => item.metadata.name)
    const names = async (query: string) => namesOf(await ask(query))
    const short = await names(`?labelSelector=${encodeURIComponent('app in (v1,v2),rank<100')}`)
    expect(short).toHaveLength(20)
    expect(await names(`?labelSelector=${encodeURIComponent('app in (v1,v2),rank<100,')}${padding}`)).toEqual(short)
    const pages: string[] = []
    let next = ''
    do {
      const page = await ask(
        `?limit=7&continue=${next}&labelSelector=${encodeURIComponent('app in (v1,v2),rank<100,')}${padding}`,
      )
      pages.push(...namesOf(page))
      next = encodeURIComponent(page.json.metadata.continue ?? '')
    } while (next !== '')
    expect(pages).toEqual(short)
  })
})

describe('deletecollection', () => {
  it('yields to other requests, and deletes the selected objects', async () => {
    const selected = `labelSelector=${encodeURIComponent('app notin (v0,v1)')}`
    const { result, turns } = await turnsDuring(() => ask(`?${selected}`, { method: 'DELETE' }))
    expect(result.status).toBe(200)
    expect(turns).toBeGreaterThan(2)
    expect((await ask('')).json.items).toHaveLength(count / 5)
  })
})

describe('an access review', () => {
  it('is refused with one cause when it has too many requirements', async () => {
    const requirements = Array.from({ length: maxSelectorTerms / 2 + 1 }, () => ({ key: '', operator: 'In', values: ['a'] }))
    const ask = async (given: readonly object[]) => {
      const spec = { resourceAttributes: { verb: 'list', resource: 'pods', labelSelector: { requirements: given } } }
      return sample.ask('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        method: 'POST',
        body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', metadata: {}, spec },
      })
    }
    const { status, json } = await ask(requirements)
    expect([status, json.details.causes.length]).toEqual([422, 1])
    expect(json.message).toContain(`must have at most ${maxSelectorTerms} terms and values`)
    expect((await ask([{ key: 'a', operator: 'In', values: ['b'] }])).status).toBe(201)
  })
})

describe('a deleted definition', () => {
  it('yields to other requests while its instances are deleted', async () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const instances = '/apis/g.example.com/v1/namespaces/default/widgets'
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.g.example.com' },
      spec: {
        group: 'g.example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }
    expect((await sample.ask(definitions, { method: 'POST', body: definition })).status).toBe(201)
    await eventually(
      () => sample.ask(instances),
      ({ status }) => status === 200,
    )
    const total = 2500
    for (let i = 0; i < total; i++)
      expect((await sample.ask(instances, { method: 'POST', body: widget(`w${i}`) })).status).toBe(201)
    // Meanwhile, some instances are deleted and others still exist.
    const seen: number[] = []
    await sample.ask(`${definitions}/widgets.g.example.com`, { method: 'DELETE' })
    await eventually(
      () => sample.ask(instances),
      ({ status, json }) => {
        if (status === 200) seen.push(json.items.length)
        return status === 404
      },
    )
    expect(seen.some((left) => left > 0 && left < total)).toBe(true)
  })
})
