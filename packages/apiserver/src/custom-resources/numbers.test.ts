import { parseJson } from '@krmkit/schema'
import { memoryStorage } from '@krmkit/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readBodyText } from '../aggregation/body-text.ts'
import { createApiServer, type EmbeddedServer } from '../server/server.ts'
import { definitionsPath, eventually } from './testing/widgets.ts'

/** Numbers in specs of custom resources. Expected are the results of kube-apiserver 1.33: the stored number or the error message. */

const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const properties = {
  m: { type: 'number', multipleOf: 0.1 },
  mi: { type: 'integer', multipleOf: 0.5 },
  m2: { type: 'number', multipleOf: 2 },
  e: { type: 'number', enum: [1, 1.5] },
  r: { type: 'number' },
  x: { type: 'number', maximum: 2 },
  s: { 'x-kubernetes-int-or-string': true },
  i: { type: 'integer', format: 'int32' },
  c: { type: 'number' },
  l: { type: 'array', items: { type: 'number' }, 'x-kubernetes-list-type': 'set' },
}
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ws.n.test' },
  spec: {
    group: 'n.test',
    scope: 'Namespaced',
    names: { plural: 'ws', singular: 'w', kind: 'W', listKind: 'WList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' } },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { ...free, properties } } } },
      },
    ],
  },
}
const collection = '/apis/n.test/v1/namespaces/default/ws'

let server: EmbeddedServer

beforeAll(async () => {
  server = await createApiServer({ storage: memoryStorage() })
  await send('POST', definitionsPath, 'application/json', JSON.stringify(definition))
  await eventually(
    () => send('GET', collection, 'application/json'),
    ({ status }) => status === 200,
  )
})

afterAll(() => server.close())

async function send(method: string, path: string, type: string, body = '') {
  const [at = '', query = ''] = path.split('?')
  const response = await server.handle({
    method,
    path: at,
    query,
    headers: { 'content-type': type, accept: 'application/json' },
    body: async () => new TextEncoder().encode(body),
    peer: {},
    signal: new AbortController().signal,
  })
  return { status: response.status, text: await readBodyText(response, Number.POSITIVE_INFINITY) }
}

/** The text of the only member of the spec, or the error message. */
function outcome(text: string): string {
  const found = /"spec":\{"\w+":(.*?)\}/.exec(text)?.[1]
  if (found !== undefined) return found
  const { message } = parseJson(text).value as { message: string }
  return message.replace(/^W\.n\.test "a" is invalid: /, '')
}

const object = (spec: string) => `{"apiVersion":"n.test/v1","kind":"W","metadata":{"name":"a"},"spec":${spec}}`

describe('numbers of custom resources', () => {
  it.each<[string, string, string?]>([
    ['{"m":1}', 'spec.m: Invalid value: 0: factor MultipleOf declared for spec.m must be positive: 0'],
    ['{"m":1.0}', '1', 'spec.m: Invalid value: 0: factor MultipleOf declared for spec.m must be positive: 0'],
    ['{"m":3}', 'spec.m: Invalid value: 0: factor MultipleOf declared for spec.m must be positive: 0'],
    ['{"m":3.0}', '3', 'spec.m: Invalid value: 0: factor MultipleOf declared for spec.m must be positive: 0'],
    ['{"m":0.3}', '0.3'],
    ['{"mi":1}', 'spec.mi: Invalid value: 0: factor MultipleOf declared for spec.mi must be positive: 0'],
    ['{"mi":1.0}', '1', 'spec.mi: Invalid value: 0: factor MultipleOf declared for spec.mi must be positive: 0'],
    ['{"m2":3}', 'spec.m2: Invalid value: 3: spec.m2 in body should be a multiple of 2'],
    ['{"m2":3.0}', 'spec.m2: Invalid value: 3: spec.m2 in body should be a multiple of 2'],
    ['{"m2":4.0}', '4'],
    ['{"m2":1e18}', 'spec.m2: Invalid value: 1e+18: spec.m2 in body should be a multiple of 2', '1000000000000000000'],
    ['{"m2":1e19}', 'spec.m2: Invalid value: 1e+19: spec.m2 in body should be a multiple of 2'],
    ['{"e":1}', '1'],
    ['{"e":1.0}', '1'],
    ['{"r":3}', '3'],
    ['{"r":3.0}', '.spec.r: Invalid value: 0: .spec.r accessor error: 3 is of the type float64, expected int64', '3'],
    ['{"r":1e3}', '.spec.r: Invalid value: 0: .spec.r accessor error: 1000 is of the type float64, expected int64', '1000'],
    ['{"x":3}', 'spec.x: Invalid value: 3: spec.x in body should be less than or equal to 2'],
    ['{"x":3.0}', 'spec.x: Invalid value: 3: spec.x in body should be less than or equal to 2'],
    ['{"x":1e3}', 'spec.x: Invalid value: 1000: spec.x in body should be less than or equal to 2'],
    [
      '{"x":1e15}',
      'spec.x: Invalid value: 1e+15: spec.x in body should be less than or equal to 2',
      'spec.x: Invalid value: 1000000000000000: spec.x in body should be less than or equal to 2',
    ],
    ['{"x":1e25}', 'spec.x: Invalid value: 1e+25: spec.x in body should be less than or equal to 2'],
    ['{"s":1}', '1'],
    ['{"s":1.0}', '1'],
    ['{"s":1.5}', 'spec.s: Invalid value: "number": spec.s in body must be of type integer,string: "number"'],
    ['{"i":1.0}', '1'],
    ['{"i":3e9}', '3000000000'],
    ['{"i":1e3}', '1000'],
    ['{"i":1e30}', 'spec.i: Invalid value: "number": spec.i in body must be of type integer: "number"'],
    ['{"c":9223372036854775808}', '9223372036854776000'],
    ['{"c":18446744073709551615}', '18446744073709552000'],
    [
      '{"c":1e400}',
      'W in version "v1" cannot be handled as a W: json: cannot unmarshal number 1e400 into Go value of type float64',
      'spec.c: Invalid value: "string": spec.c in body must be of type number: "string"',
    ],
    ['{"c":-0}', '0'],
    ['{"c":-0.0}', '0'],
    ['{"m2":9223372036854775807.0}', 'spec.m2: Invalid value: 9.223372036854776e+18: spec.m2 in body should be a multiple of 2'],
    ['{"x":9007199254740993}', 'spec.x: Invalid value: 9007199254740993: spec.x in body should be less than or equal to 2'],
    [
      '{"x":9007199254740993.0}',
      'spec.x: Invalid value: 9.007199254740992e+15: spec.x in body should be less than or equal to 2',
      'spec.x: Invalid value: 9007199254740992: spec.x in body should be less than or equal to 2',
    ],
    ['{"m":5e-324}', 'spec.m: Invalid value: 5e-324: spec.m in body should be a multiple of 0.1'],
    ['{"e":1.1}', '1.1'],
    ['{"e":7}', 'spec.e: Unsupported value: 7: supported values: "1", "1.5"'],
    ['{"l":[1,1.0]}', '[1,1]', 'spec.l[1]: Duplicate value: 1'],
    ['{"l":[1.0,1.0]}', 'spec.l[1]: Duplicate value: 1'],
    [
      '{"l":[1e18,1000000000000000000]}',
      '[1000000000000000000,1000000000000000000]',
      'spec.l[1]: Duplicate value: 1000000000000000000',
    ],
  ])('%s in JSON and YAML', async (spec, json, yaml = json) => {
    const create = async (type: string) => outcome((await send('POST', `${collection}?dryRun=All`, type, object(spec))).text)
    expect([await create('application/json'), await create('application/yaml')]).toEqual([json, yaml])
  })

  describe('in bodies of more than 64 KiB', () => {
    const pad = `"pad":"${'x'.repeat(70_000)}"`
    const positive = 'factor MultipleOf declared for spec.m must be positive: 0'

    it('are floats after a POST and a PUT', async () => {
      const create = (m: string) => send('POST', `${collection}?dryRun=All`, 'application/json', object(`{"m":${m},${pad}}`))
      expect([(await create('3.0')).status, (await create('3')).text]).toEqual([201, expect.stringContaining(positive)])
      expect((await create('1,"l":[7,1,1.0]')).text).toContain(positive)
      expect((await create('3e0,"l":[7,1,1.0]')).status).toBe(201)
      expect((await create('3.0,"l":[7,1.0,1.0]')).text).toContain('spec.l[2]: Duplicate value: 1')
      await send('POST', collection, 'application/json', object('{"d":1}').replace('"a"', '"large"'))
      const { resourceVersion } = JSON.parse((await send('GET', `${collection}/large`, 'application/json')).text).metadata
      const put = async (d: string) => {
        const body = object(`{"d":${d},${pad}}`).replace('"name":"a"', `"name":"large","resourceVersion":"${resourceVersion}"`)
        return (await send('PUT', `${collection}/large`, 'application/json', body)).text
      }
      expect(JSON.parse(await put('1.0')).metadata.generation).toBe(2)
    })

    it('are floats in patches', async () => {
      const named = (spec: string) => object(spec).replace('"a"', '"long"')
      await send('POST', collection, 'application/json', named(`{"d":1,${pad}}`))
      const patch = async (type: string, text: string) =>
        JSON.parse((await send('PATCH', `${collection}/long`, `application/${type}+json`, text)).text)
      expect((await patch('merge-patch', `{"spec":{"d":1,${pad}}}`)).metadata.generation).toBe(1)
      expect((await patch('merge-patch', `{"spec":{"d":1.0,${pad}}}`)).metadata.generation).toBe(2)
      const operations = (...more: string[]) => `[{"op":"add","path":"/spec/pad","value":"${'x'.repeat(70_000)}"},${more.join()}]`
      const set = '{"op":"replace","path":"/spec/d","value":1.0}'
      expect((await patch('json-patch', operations(set))).metadata.generation).toBe(3)
      const test = (value: string) => `{"op":"test","path":"/spec/d","value":${value}}`
      expect((await patch('json-patch', operations(set, test('1.0')))).kind).toBe('W')
      expect((await patch('json-patch', operations(set, test('1')))).code).toBe(422)
    })
  })

  it('are decoded in YAML beside several unknown fields, which are reported in the order of their names', async () => {
    const yaml = (name: string) =>
      `apiVersion: n.test/v1\nkind: W\nmetadata: {name: ${name}}\nz: 1\ny: 2\nspec: {c: 9223372036854775808}\n`
    expect(outcome((await send('POST', `${collection}?dryRun=All`, 'application/yaml', yaml('u'))).text)).toBe(
      '9223372036854776000',
    )
    const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: u}\ndata: {b: [], a: 1}\n'
    expect((await send('POST', '/api/v1/namespaces/default/configmaps', 'application/yaml', map)).text).toContain(
      'cannot unmarshal number into Go struct field ConfigMap.data of type string',
    )
  })

  it('in sets appear in managedFields as kube-apiserver writes them', async () => {
    const { text } = await send(
      'POST',
      `${collection}?dryRun=All&fieldManager=m`,
      'application/json',
      object('{"l":[1e-7,1e3,1e20]}'),
    )
    expect(text.match(/"v:[^"]*"/g)).toEqual(['"v:1000"', '"v:100000000000000000000"', '"v:1e-07"'])
  })

  it('are compared by their text in a JSON patch that has set them itself', async () => {
    await send('POST', collection, 'application/json', object('{"d":1}').replace('"a"', '"p"'))
    const operations = '[{"op":"add","path":"/spec/d","value":10e-1},{"op":"test","path":"/spec/d","value":10e-1}]'
    const patch = (text: string) => send('PATCH', `${collection}/p`, 'application/json-patch+json', text)
    expect((await patch(operations)).status).toBe(200)
    expect((await patch(operations.replace('10e-1', '1'))).status).toBe(422)
  })

  it.each<[string, string, number]>([
    ['1.0', '1', 422],
    ['1.0', '1.0', 200],
    ['10e-1', '1', 422],
    ['0', '-0', 422],
    ['-0', '0', 422],
    ['-0', '-0', 200],
    ['{"x":[1.0]}', '{"x":[1]}', 422],
    ['{"x":[1.0]}', '{"x":[1.0]}', 200],
  ])('a JSON patch that adds %s and then tests %s is answered with %i', async (added, tested, status) => {
    await send('POST', collection, 'application/json', object('{"c":2}').replace('"a"', '"u"'))
    const steps = (...operations: string[]) =>
      send('PATCH', `${collection}/u?dryRun=All`, 'application/json-patch+json', `[${operations.join()}]`)
    const add = `{"op":"add","path":"/spec/d","value":${added}}`
    const test = (path: string) => `{"op":"test","path":"${path}","value":${tested}}`
    expect((await steps(add, test('/spec/d'))).status).toBe(status)
    const move = '{"op":"move","from":"/spec/d","path":"/spec/f"}'
    expect((await steps(add, move, test('/spec/f'), '{"op":"remove","path":"/spec/f"}')).status).toBe(status)
  })

  it.each<[string, string, number]>([
    ['1', '1.0', 2],
    ['1', '1e0', 2],
    ['0', '-0.0', 2],
    ['1.0', '1', 1],
    ['1.5', '1.50', 1],
    ['1e21', '1e21', 1],
  ])('%s patched with %s has generation %i', async (stored, number, generation) => {
    await send('DELETE', `${collection}/g`, 'application/json', '')
    await send('POST', collection, 'application/json', object(`{"d":${stored}}`).replace('"a"', '"g"'))
    const merge = await send('PATCH', `${collection}/g`, 'application/merge-patch+json', `{"spec":{"d":${number}}}`)
    expect(JSON.parse(merge.text).metadata.generation).toBe(generation)
    const operations = `[{"op":"replace","path":"/spec/d","value":${number}}]`
    const patched = await send('PATCH', `${collection}/g`, 'application/json-patch+json', operations)
    expect(JSON.parse(patched.text).metadata.generation).toBe(2 * generation - 1)
  })

  it('are refused for replicas when they are the least 64-bit integer', async () => {
    await send('POST', collection, 'application/json', object('{"r":1}').replace('"a"', '"r"'))
    const scale = async (replicas: number) => {
      const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'r' }, spec: { replicas } }
      return (await send('PUT', `${collection}/r/scale`, 'application/json', JSON.stringify(body))).text
    }
    expect(await scale(-2147483648)).toContain('the spec replicas field \\".spec.r\\" cannot be empty')
    expect(await scale(-1)).toContain('should be a non-negative integer')
  })

  it('reports repeated keys before another version or kind', async () => {
    const yaml = 'apiVersion: n.test/v2\nkind: W\nmetadata: {name: u}\nspec: {}\nspec: {}\n'
    const strict = await send('POST', `${collection}?fieldValidation=Strict`, 'application/yaml', yaml)
    expect(strict.text).toContain('key \\"spec\\" already set in map')
    expect(strict.text).toContain('W in version \\"v2\\" cannot be handled as a W')
    expect((await send('POST', collection, 'application/yaml', yaml)).text).toContain('does not match the expected API version')
    const other = yaml.replace('v2', 'v1').replace('kind: W', 'kind: X')
    expect((await send('POST', `${collection}?fieldValidation=Strict`, 'application/yaml', other)).text).toContain(
      'already set in map',
    )
  })

  it('are floats in patches too, and integers once they are stored', async () => {
    await send('POST', collection, 'application/json', object('{"m":4.0}'))
    const merge = async (spec: string) =>
      outcome((await send('PATCH', `${collection}/a?dryRun=All`, 'application/merge-patch+json', `{"spec":${spec}}`)).text)
    const positive = 'spec.m: Invalid value: 0: factor MultipleOf declared for spec.m must be positive: 0'
    expect([await merge('{"m":3.0}'), await merge('{"m":3}')]).toEqual(['3', positive])
    const patch = async (value: string) => {
      const operations = `[{"op":"replace","path":"/spec/m","value":${value}}]`
      return outcome((await send('PATCH', `${collection}/a?dryRun=All`, 'application/json-patch+json', operations)).text)
    }
    expect([await patch('3.0'), await patch('3')]).toEqual(['3', positive])
  })

  it.each<[string, number, string]>([
    ['1', 200, '1'],
    ['1.0', 422, '1'],
    ['1e0', 422, '1'],
    ['9223372036854775808', 422, '9223372036854775808'],
    ['9223372036854776000', 200, '9223372036854775808'],
    ['9223372036854775807', 200, '9223372036854775807'],
    ['1000000000000000000', 200, '1e18'],
    ['1e+21', 200, '1e21'],
    ['9223372036854775807', 422, '9223372036854775808'],
    ['1e21', 422, '1e21'],
    ['1.50', 422, '1.5'],
    ['-0', 422, '0'],
    ['1e-07', 422, '1e-7'],
  ])('a JSON patch that tests %s is answered with %i where %s is stored', async (tested, status, stored) => {
    await send('POST', collection, 'application/json', object(`{"d":${stored}}`).replace('"a"', '"t"'))
    await send('PATCH', `${collection}/t`, 'application/merge-patch+json', `{"spec":{"d":${stored}}}`)
    const operations = `[{"op":"test","path":"/spec/d","value":${tested}}]`
    const { status: found } = await send('PATCH', `${collection}/t`, 'application/json-patch+json', operations)
    expect(found).toBe(status)
  })

  it.each(['9223372036854775808', '18446744073709551615', '-9223372036854775808', '9007199254740993', '1e18', '1.0'])(
    '%s is stored as a number and applied again without a change',
    async (number) => {
      const apply = async () => {
        const path = `${collection}/b?fieldManager=m&force=true`
        const body = object(`{"d":${number}}`).replace('"a"', '"b"')
        return (await send('PATCH', path, 'application/apply-patch+yaml', body)).text
      }
      const first = await apply()
      expect(await apply()).toBe(first)
      expect(outcome(first)).toMatch(/^-?[0-9]+$/)
      expect((await send('PUT', `${collection}/b`, 'application/json', first)).text).toBe(first)
    },
  )
})
