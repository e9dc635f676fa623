import { createTurns, Pace, runAtOnce, runPaced, type Work } from '@krmkit/base/work'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryObject } from '../../testdata/arbitrary.ts'
import { testTypes } from '../../testdata/types.ts'
import type { StructType } from '../interfaces.ts'
import { stringifyJson } from '../json/encode-json.direct.ts'
import { parseJson } from '../json/parse-json.direct.ts'
import { type ParsedJson, parseJsonInSlices } from '../json/parse-json.ts'
import { readJson } from '../json/syntax.ts'
import { readEnvelope } from '../protobuf/envelope.ts'
import { decodeProtobuf } from '../protobuf/protobuf.direct.ts'
import { encodeProtobuf, decodeProtobuf as pacedDecodeProtobuf } from '../protobuf/protobuf.ts'
import { DecodeError } from '../schema-error.ts'
import { createCustomType } from '../structural/custom-type.ts'
import { decode } from './decode.direct.ts'
import { decode as pacedDecode } from './decode.ts'
import { normalize } from './normalize.direct.ts'
import { normalize as pacedNormalize } from './normalize.ts'

const types = testTypes()
const configMap = types.struct('core/v1.ConfigMap')
const pod = types.struct('core/v1.Pod')
const utf8 = new TextEncoder()
/** A pace whose slices end immediately. */
const short = () => new Pace(createTurns(), { sliceMs: 0 })

const spec = { type: 'object', properties: { list: { type: 'array', items: { type: 'object' } }, text: { type: 'string' } } }
const widget = createCustomType({
  kind: { group: 'g.example.com', version: 'v1', kind: 'Widget' },
  schema: { type: 'object', properties: { spec } },
  objectMeta: types.struct('meta/v1.ObjectMeta'),
})

/** Runs `work` and counts the turns of the event loop meanwhile. */
async function countTurns<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0
  let over = false
  const count = (): void => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const result = await work()
  over = true
  return { result, turns }
}

/** Returns the result as text, or the error. */
function outcome(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    if (error instanceof DecodeError) return [error.code, error.message, { path: error.path, mark: error.mark }]
    throw error
  }
}

function expectSame(type: StructType, text: string): void {
  const { value, duplicates } = parseJson(text, { literals: true })
  const shown = (work: () => { object: object; problems: readonly string[] }) => () => {
    const { object, problems } = work()
    return [stringifyJson(object), problems]
  }
  const options = { duplicates }
  expect(outcome(shown(() => runAtOnce(pacedDecode(type, value, options))))).toEqual(
    outcome(shown(() => decode(type, value, options))),
  )
}

describe('pausable decode', () => {
  it('gives the same objects, problems and errors as decode', () => {
    const odd = fc.jsonValue({ maxDepth: 3 })
    for (const type of [pod, configMap, types.struct('apps/v1.Deployment'), widget]) {
      const right = type === widget ? odd : arbitraryObject(type)
      fc.assert(
        fc.property(fc.oneof({ weight: 4, arbitrary: right }, odd), odd, (value, extra) => {
          expectSame(type, stringifyJson(value))
          expectSame(
            type,
            stringifyJson({ ...(value as object), data: extra, spec: extra, unknown: extra, metadata: { x: extra } }),
          )
        }),
        { numRuns: 80 },
      )
    }
  })

  it('gives the same result for duplicate members', () => {
    for (const type of [configMap, widget]) {
      expectSame(
        type,
        '{"data":{"a":"1","a":"2"},"data":{"b":null,"a":"3"},"metadata":null,"x":1,"x":2,"spec":{"text":"a","text":1}}',
      )
      expectSame(type, '{"metadata":{"labels":{"b":"1"}},"metadata":{"labels":{"a":"2"},"name":"x"}}')
      expectSame(type, '{"data":{"a":1},"data":7,"spec":[{"a":1,"a":2}]}')
    }
  })

  it('sorts the keys of large maps by bytes', () => {
    const keys = [...Array(500).keys()].map((index) => `k${(index * 7919) % 1000}`)
    for (const more of [[], ['\uffff', '\u{1f600}', 'é'], ['10', '9']]) {
      const data = Object.fromEntries([...keys, ...more].map((key) => [key, 'x']))
      expectSame(configMap, JSON.stringify({ data }))
    }
    expectSame(configMap, JSON.stringify({ data: Object.fromEntries([...keys].sort().map((key) => [key, ''])) }))
  })

  it('yields to the event loop', async () => {
    const value = { data: Object.fromEntries([...Array(20_000).keys()].map((index) => [`k${index}`, 'x'])) }
    const { result, turns } = await countTurns(() => runPaced(pacedDecode(configMap, value), short()))
    expect(stringifyJson(result.object)).toBe(stringifyJson(decode(configMap, value).object))
    expect(turns).toBeGreaterThan(10)
  })
})

const count = (length: number, make: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length }, (_, i) => [`k${(i * 7919) % length}`, make(i)]))

/** Runs a generator, counting its yields. */
function counted<T>(steps: Work<T>): { value: T; yields: number } {
  let yields = 0
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return { value, yields }
    yields++
  }
}

/** Objects with many members, by type. */
const wide: readonly [string, object][] = [
  ['core/v1.ConfigMap', { data: count(6000, String), metadata: { labels: count(6000, () => 'v') } }],
  [
    'core/v1.Pod',
    {
      spec: {
        containers: Array.from({ length: 900 }, (_, i) => ({
          name: `c${i}`,
          env: [{ name: 'a' }],
          ports: [{ containerPort: i }],
        })),
      },
    },
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    {
      spec: {
        versions: [
          {
            name: 'v1',
            schema: {
              openAPIV3Schema: {
                properties: {
                  inner: { properties: count(2000, () => ({ type: 'string', default: { a: count(3, Number) } })) },
                  list: { items: { properties: count(2000, () => ({ type: 'string' })) } },
                },
              },
            },
          },
        ],
      },
    },
  ],
]

describe.each(wide)('a large object of %s', (name, value) => {
  const type = types.struct(name)
  const { object } = decode(type, value)

  it('is decoded from JSON with many yields', () => {
    const { value: decoded, yields } = counted(pacedDecode(type, value))
    expect(stringifyJson(decoded.object)).toBe(stringifyJson(object))
    expect(yields).toBeGreaterThan(30)
  })

  it('is decoded from protobuf with many yields', () => {
    const envelope = readEnvelope(encodeProtobuf(type, object))
    const { value: decoded, yields } = counted(pacedDecodeProtobuf(type, envelope))
    expect(stringifyJson(decoded.object)).toBe(stringifyJson(decodeProtobuf(type, envelope).object))
    expect(yields).toBeGreaterThan(10)
  })

  it('is normalized with many yields', () => {
    const { value: normal, yields } = counted(pacedNormalize(type, object))
    expect(normal).toBe(object)
    expect(yields).toBeGreaterThan(15)
  })
})

describe('pausable normalize', () => {
  it('gives the same result as normalize', () => {
    for (const type of [pod, configMap, types.struct('apps/v1.Deployment')]) {
      fc.assert(
        fc.property(arbitraryObject(type), arbitraryObject(type), (value, other) => {
          const changed = { ...decode(type, value).object, ...decode(type, other).object, spare: 1 }
          expect(stringifyJson(runAtOnce(pacedNormalize(type, changed)))).toBe(stringifyJson(normalize(type, changed)))
        }),
        { numRuns: 100 },
      )
    }
  })

  it('sorts maps and drops members like normalize', () => {
    const changed = { metadata: { labels: {} }, data: { b: '1', a: undefined, '10': 'x', é: '' }, binaryData: {} }
    expect(stringifyJson(runAtOnce(pacedNormalize(configMap, changed)))).toBe(stringifyJson(normalize(configMap, changed)))
    const sorted = decode(configMap, { data: { b: '1', a: '2' } }).object
    expect(runAtOnce(pacedNormalize(configMap, sorted))).toBe(sorted)
  })
})

/** Lists the entries, because maps with objects as keys are slow to compare. */
const listed = ({ value, duplicates }: ParsedJson) => [value, [...(duplicates?.values() ?? [])]]

describe('parseJsonInSlices', () => {
  const wideList = (element: string) => `[${Array(21_000).fill(element).join(',')}]`
  const texts = [
    '{"a":1}',
    wideList('0'),
    wideList('{"a":"\\u00e9\\n","b":[null,true,-1.5e3]}'),
    wideList('{"a":1,"a":2}'),
    wideList('{"a":"\\ud800"}'),
    `${wideList('{}')} x`,
    wideList('9007199254740993'),
    '{"a":',
    `${'['.repeat(500)}${']'.repeat(500)}`,
  ]

  it.each(texts.map((text) => [text.slice(0, 40), text]))('parses %s like parseJson', async (_, text) => {
    for (const literals of [true, false]) {
      const parsed = await parseJsonInSlices(utf8.encode(text), { literals }, short()).then(listed, (error: unknown) => {
        if (error instanceof DecodeError) return [error.code, error.message, { path: error.path, mark: error.mark }]
        throw error
      })
      expect(parsed).toEqual(outcome(() => listed(parseJson(text, { literals }))))
    }
  })

  it('replaces invalid UTF-8 like parseJson', async () => {
    const bytes = new Uint8Array([0x22, 0xff, 0x61, 0xe2, 0x82, 0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80, 0x22])
    expect(await parseJsonInSlices(bytes, {}, short())).toEqual({ value: '\ufffda\ufffd\ufffdé\u{1f600}' })
  })

  it('keeps every value of a duplicate key, regardless of earlier members', () => {
    const bytes = utf8.encode('{"a":1,"2":3,"a":{"b":1},"c":null,"2":4}')
    const { value, duplicates } = runAtOnce(readJson(bytes, { maxDepth: 9, literals: false }))
    expect(duplicates?.get(value as object)).toEqual([
      ['a', 1],
      ['2', 3],
      ['a', { b: 1 }],
      ['c', null],
      ['2', 4],
    ])
  })

  it('yields to the event loop', async () => {
    const { turns } = await countTurns(() => parseJsonInSlices(utf8.encode(wideList('{"a":"b"}')), {}, short()))
    expect(turns).toBeGreaterThan(10)
  })
})

describe('raw JSON members', () => {
  it('keep the order of their keys unless they are sorted', async () => {
    const revision = types.struct('apps/v1.ControllerRevision')
    const value = { data: { z: 1, b: { d: 1, c: 2 } } }
    const kept = '"data":{"z":1,"b":{"d":1,"c":2}}'
    const sorted = '"data":{"b":{"c":2,"d":1},"z":1}'
    expect(stringifyJson(decode(revision, value).object)).toContain(kept)
    expect(stringifyJson(decode(revision, value, { sortsRaw: true }).object)).toContain(sorted)
    const slices = () => runPaced(pacedDecode(revision, value, { sortsRaw: true }), short())
    expect(stringifyJson((await slices()).object)).toContain(sorted)
  })
})

describe('problems', () => {
  it('limits the number and length of problems', () => {
    const unknown = (count: number, key: string) =>
      Object.fromEntries([...Array(count).keys()].map((index) => [`${key}${index}`, 0]))
    expect(decode(configMap, unknown(300, 'k')).problems).toHaveLength(100)
    expect(decode(widget, { spec: unknown(300, 'k') }).problems).toHaveLength(100)
    const long = decode(configMap, unknown(100, 'k'.repeat(10_000))).problems
    expect(long.join('').length).toBeLessThan(80_000)
    expect(long[0]).toMatch(/^unknown field "k{4096}\.\.\."$/)
  })

  it('takes linear time for a member that is repeated often', () => {
    const text = `{${Array(30_000).fill('"data":{"a":"x"}').join(',')}}`
    const { value, duplicates } = parseJson(text, { literals: true })
    const { object, problems } = decode(configMap, value, { duplicates })
    expect(stringifyJson(object)).toContain('"data":{"a":"x"}')
    expect(problems).toEqual(['duplicate field "data"'])
  })
})
