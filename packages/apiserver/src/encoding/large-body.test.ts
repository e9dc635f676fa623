import { turnsDuring } from '@krmkit/base/testing'
import { parseYaml } from '@krmkit/schema'
import { protobufMagic } from '@krmkit/schema/protobuf'
import { yamlToJson } from '@krmkit/schema/yaml'
import { describe, expect, it } from 'vitest'
import type { YamlTranslator } from '../media/yaml-translator.ts'
import { administrator, requestOf, type SampleServer, sampleServer } from '../testing/sample-server.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const pods = '/api/v1/namespaces/default/pods'
const yamlType = { 'content-type': 'application/yaml' }
const protobufType = { 'content-type': 'application/vnd.kubernetes.protobuf' }
const tooLarge = 'Request entity too large: etcdserver: request is too large: stored objects may have 1572864 bytes'

const numbered = (count: number, make: (index: number) => string, separator = ',') =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator)
const map = (members: string, rest = '') =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{${members}}${rest}}`
const pod = (containers: string) =>
  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[${containers}]}}`

/** A length-delimited field of a protobuf message. */
function field(number: number, content: Uint8Array): Uint8Array {
  const size: number[] = []
  for (let rest = content.length; ; rest >>>= 7) {
    if (rest < 0x80) {
      size.push(rest)
      break
    }
    size.push((rest & 0x7f) | 0x80)
  }
  return Buffer.concat([Uint8Array.of((number << 3) | 2), Uint8Array.from(size), content])
}
const text = (value: string) => new TextEncoder().encode(value)
const podMessage = (containers: number) => {
  const type = Buffer.concat([field(1, text('v1')), field(2, text('Pod'))])
  const empty = new Uint8Array(2 * containers).map((_, index) => (index % 2 === 0 ? 0x12 : 0))
  const raw = Buffer.concat([field(1, field(1, text('a'))), field(2, empty)])
  return Buffer.concat([Uint8Array.from(protobufMagic), field(1, type), field(2, raw)])
}

async function post({ server }: SampleServer, target: string, bytes: Uint8Array, headers: Record<string, string>) {
  const { status, body } = await server.handle({
    ...requestOf(target, { method: 'POST', headers, user: administrator }),
    body: async () => bytes,
  })
  return { status, json: body.kind === 'bytes' ? JSON.parse(new TextDecoder().decode(body.bytes)) : undefined }
}

describe('large maps that strategies change in place', () => {
  const secrets = '/api/v1/namespaces/default/secrets'
  const members = (value: string) => `{${numbered(11_000, (i) => `"k${i}":"${value}"`)}}`
  const requests = `{${numbered(11_000, (i) => `"example.com/k${i}":"1500m"`)}}`

  it.each([
    ['texts of secrets', secrets, `{"metadata":{"name":"a"},"stringData":${members('x')}}`, 201],
    ['bytes that are not encoded canonically', maps, `{"metadata":{"name":"a"},"binaryData":${members('eB==')}}`, 201],
    ['labels of namespaces', '/api/v1/namespaces', `{"metadata":{"name":"a","labels":${members('v')}}}`, 201],
    [
      'resources',
      pods,
      `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":${requests}}}]}}`,
      422,
    ],
  ])('are served: %s', async (_, path, body, status) => {
    const { ask } = await sampleServer()
    expect(await ask(path, { method: 'POST', text: body })).toMatchObject({ status })
    const merge = { 'content-type': 'application/merge-patch+json' }
    const created = status === 201 ? 200 : 404
    expect(await ask(`${path}/a`, { method: 'PATCH', text: '{"metadata":{"labels":{"b":"c"}}}', headers: merge })).toMatchObject({
      status: created,
    })
    expect(await ask(`${path}/a`, { method: 'PATCH', text: body, headers: merge })).toMatchObject({ status: created })
  })
})

describe('objects above the size limit', () => {
  it.each([
    ['a map of many keys', maps, map(numbered(190_000, (i) => `"k${i}":""`))],
    ['containers that are empty', pods, pod(numbered(200_000, () => '{}'))],
    ['containers that are null', pods, pod(numbered(200_000, () => 'null'))],
    ['one long text', maps, map(`"a":"${'x'.repeat(1_600_000)}"`)],
    ['containers that get large by their defaults', pods, pod(numbered(40_000, (i) => `{"name":"c${i}"}`))],
  ])('are refused before they are validated: %s', async (_, path, body) => {
    const { ask } = await sampleServer()
    const { status, json } = await ask(path, { method: 'POST', text: body })
    expect([status, json.reason, json.message]).toEqual([413, 'RequestEntityTooLarge', tooLarge])
    expect(await ask(`${path}/a`)).toMatchObject({ status: 404 })
  })

  it.each(['data', 'stringData'])('are refused for the %s of a secret, which counts without base64', async (member) => {
    const { ask } = await sampleServer()
    const value = member === 'data' ? 'QUFB'.repeat(200_000) : 'A'.repeat(600_000)
    const text = `{"metadata":{"name":"a"},"${member}":{"a":"${value}","b":"${value}"}}`
    const { status, json } = await ask('/api/v1/namespaces/default/secrets', { method: 'POST', text })
    expect(status).toBe(422)
    expect(json.details.causes).toMatchObject([{ field: 'data', message: 'Too long: may not be more than 1048576 bytes' }])
  })

  it('are refused as protobuf, even if small in that encoding', async () => {
    const sample = await sampleServer()
    for (const containers of [195_000, 1_400_000]) {
      const { status, json } = await post(sample, pods, podMessage(containers), protobufType)
      expect([status, json.message]).toEqual([413, tooLarge])
    }
    const { status, json } = await post(sample, pods, podMessage(3), protobufType)
    expect([status, json.reason]).toEqual([422, 'Invalid'])
    const cut = await post(sample, pods, podMessage(50_000).subarray(0, 90_000), protobufType)
    expect([cut.status, cut.json.reason]).toEqual([400, 'BadRequest'])
  })

  it('are refused as the result of patches', async () => {
    const { ask } = await sampleServer()
    expect((await ask(maps, { method: 'POST', text: map(`"a":"${'x'.repeat(1_000_000)}"`) })).status).toBe(201)
    const patch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } }
    const { status, json } = await ask(`${maps}/a`, { ...patch, text: `{"data":{"b":"${'x'.repeat(700_000)}"}}` })
    expect([status, json.message]).toEqual([413, tooLarge])
    const type = { 'content-type': 'application/apply-patch+yaml' }
    const apply = { method: 'PATCH', headers: type, text: map(numbered(190_000, (i) => `"k${i}":""`)) }
    expect(await ask(`${maps}/b?fieldManager=ci`, apply)).toMatchObject({ status: 413 })
  })

  it('may contain a status or managedFields, which are not stored', async () => {
    const { ask } = await sampleServer()
    const large = 'x'.repeat(1_000_000)
    const owners = `"managedFields":[{"manager":"${large}","operation":"Update","apiVersion":"v1","time":"2024-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{}}]`
    const text = map(`"a":"${large}"`).replace('"name":"a"', `"name":"a",${owners}`)
    expect((await ask(maps, { method: 'POST', text })).status).toBe(201)
    const namespace = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n","annotations":{"a":"x"}},"status":{"phase":"${'x'.repeat(1_600_000)}"}}`
    expect((await ask('/api/v1/namespaces', { method: 'POST', text: namespace })).status).toBe(201)
  })
})

describe('large objects', () => {
  it('are stored like small ones, yielding to other requests', async () => {
    const { ask } = await sampleServer()
    const members = numbered(60_000, (i) => `"k${i}":"${i}"`)
    const { turns } = await turnsDuring(async () => {
      expect((await ask(maps, { method: 'POST', text: map(members) })).status).toBe(201)
    })
    expect(turns).toBeGreaterThan(10)
    const { json } = await ask(`${maps}/a`)
    expect(json.data).toEqual(JSON.parse(`{${members}}`))
    const changed = map(members.replace('"k0":"0"', '"k0":"1"'))
    const first = await ask(`${maps}/a`, { method: 'PUT', text: changed })
    expect(first.json.data.k0).toBe('1')
    const again = await ask(`${maps}/a`, { method: 'PUT', text: changed })
    expect(again.json.metadata.resourceVersion).toBe(first.json.metadata.resourceVersion)
  })

  it('are written once by each of several concurrent writers', async () => {
    const { ask } = await sampleServer()
    const members = numbered(5_000, (i) => `"k${i}":"${i}"`)
    expect((await ask(maps, { method: 'POST', text: map(members) })).status).toBe(201)
    const type = { 'content-type': 'application/merge-patch+json' }
    const writers = Array.from({ length: 5 }, (_, index) =>
      ask(`${maps}/a`, { method: 'PATCH', headers: type, text: `{"data":{"n${index}":"x"}}` }),
    )
    expect((await Promise.all(writers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const { json } = await ask(`${maps}/a`)
    expect(Object.keys(json.data).filter((key) => key.startsWith('n'))).toHaveLength(5)
  })

  it('are refused with the same messages as small ones', async () => {
    const { ask } = await sampleServer()
    const members = numbered(20_000, (i) => `"k${i}":"${i}"`)
    const strict = await ask(`${maps}?fieldValidation=Strict`, { method: 'POST', text: map(members, ',"extra":1,"extra":2') })
    expect([strict.status, strict.json.message]).toEqual([
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "extra"',
    ])
    const type = await ask(maps, { method: 'POST', text: map(`${members},"x":1`) })
    expect(type.json.message).toContain('json: cannot unmarshal number into Go struct field ConfigMap.data of type string')
    const syntax = await ask(maps, { method: 'POST', text: `${map(members)}]` })
    expect(syntax.json.message).toContain("invalid character ']' after top-level value")
  })
})

describe('bodies that are not stored', () => {
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const review = (group: string) => ({ spec: { resourceAttributes: { verb: 'get', resource: 'pods', group } } })

  it('are limited to 256 KiB', async () => {
    const { ask } = await sampleServer()
    expect((await ask(reviews, { method: 'POST', body: review('x'.repeat(200_000)) })).status).toBe(201)
    const { status, json } = await ask(reviews, { method: 'POST', body: review('x'.repeat(300_000)) })
    expect([status, json.message]).toEqual([413, 'Request entity too large: limit is 262144'])
  })
})

describe('large YAML', () => {
  const body = (count: number) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n${numbered(count, (i) => `  k${i}: v${i}`, '\n')}\n`

  it.each([10, 8000])('of %i keys reports the first error and the problems in key order', async (count) => {
    const { ask } = await sampleServer()
    const post = (text: string) => ask(maps, { method: 'POST', headers: yamlType, text })
    const bad = await post(`${body(count)}  z: 1\n  b: {}\n  y: []\nbinaryData: 5\n`)
    expect([bad.status, bad.json.message]).toEqual([400, expect.stringContaining('ConfigMap.binaryData')])
    const { status, headers } = await post(`${body(count)}z: 1\nb: 2\n`)
    expect(status).toBe(201)
    expect(headers.warning).toEqual(['b', 'z'].map((name) => `299 - "unknown field \\"${name}\\""`))
  })

  it('is parsed by the translator', async () => {
    const given: number[] = []
    const yamlTranslator: YamlTranslator = {
      async toJson(yaml, options) {
        given.push(yaml.byteLength)
        return yamlToJson(yaml, options)
      },
    }
    const { ask } = await sampleServer({ yamlTranslator })
    expect((await ask(maps, { method: 'POST', headers: yamlType, text: body(10) })).status).toBe(201)
    expect((await ask(maps, { method: 'POST', headers: yamlType, text: map(numbered(9000, (i) => `"k${i}":""`)) })).status).toBe(
      409,
    )
    expect(given).toEqual([])
    const large = `${body(30_000).replace('name: a', 'name: b')}  k0: again\nextra: 1\n`
    const { status, json, headers } = await ask(maps, { method: 'POST', headers: yamlType, text: large })
    expect(status).toBe(201)
    expect(json.data).toEqual((parseYaml(large).value as { data: object }).data)
    expect(headers.warning).toEqual([
      expect.stringContaining('key \\"k0\\" already set in map'),
      expect.stringContaining('unknown field \\"extra\\"'),
    ])
    const apply = { method: 'PATCH', headers: { 'content-type': 'application/apply-patch+yaml' } }
    const applied = body(30_000).replace('name: a', 'name: c')
    expect((await ask(`${maps}/c?fieldManager=ci`, { ...apply, text: applied })).status).toBe(201)
    expect(given).toHaveLength(2)
    const bad = await ask(maps, { method: 'POST', headers: yamlType, text: `${body(9000)}\n- x` })
    expect([bad.status, bad.json.message]).toEqual([400, expect.stringContaining('): yaml: line ')])
  })

  it('is parsed as JSON only when YAML gives the same result', async () => {
    const yamlTranslator: YamlTranslator = { toJson: async (yaml, options) => yamlToJson(yaml, options) }
    const { ask } = await sampleServer({ yamlTranslator })
    const body = (value: string) => map(`${numbered(9000, (i) => `"k${i}":""`)},"a":"${value}"`)
    const send = (value: string) => ask(maps, { method: 'POST', headers: yamlType, text: body(value) })
    expect((await send('\\/')).json.message).toContain('found unknown escape character')
    expect((await send('\\ud83d\\ude00')).json.message).toContain('found invalid Unicode character escape code')
    expect((await send('\u007f')).json.message).toContain('control characters are not allowed')
    expect((await send('x')).status).toBe(201)
  })

  it('is refused above 128 KiB without a translator', async () => {
    const { ask } = await sampleServer()
    expect((await ask(maps, { method: 'POST', headers: yamlType, text: body(7_000) })).status).toBe(201)
    const { status, json } = await ask(maps, { method: 'POST', headers: yamlType, text: body(30_000) })
    expect([status, json.message]).toEqual([413, 'Request entity too large: limit of YAML is 131072'])
  })
})
