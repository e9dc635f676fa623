import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryObject } from '../../testdata/arbitrary.ts'
import vectors from '../../testdata/protobuf.json' with { type: 'json' }
import { testTypes } from '../../testdata/types.ts'
import { decode } from '../decode/decode.direct.ts'
import { stringifyJson } from '../json/encode-json.direct.ts'
import { parseJson } from '../json/parse-json.direct.ts'
import { DecodeError, SchemaError } from '../schema-error.ts'
import { readEnvelope, writeEnvelope } from './envelope.ts'
import { decodeMessage, decodeProtobuf } from './protobuf.direct.ts'
import { encodeMessage, encodeProtobuf } from './protobuf.ts'
import { decodeWatchEvent, encodeWatchFrame } from './watch.ts'

const types = testTypes()
const configMap = types.struct('core/v1.ConfigMap')
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const unhex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

function failure(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof DecodeError) return error.message
    throw error
  }
  return 'no error'
}

describe('messages', () => {
  it.each(vectors)('encodes and decodes $about [P35]', ({ type, json, message }) => {
    const struct = types.struct(type)
    const { object } = decode(struct, parseJson(json, { literals: true }).value)
    expect(hex(encodeMessage(struct, object))).toBe(message.replaceAll(' ', ''))
    expect(stringifyJson(decodeMessage(struct, unhex(message)))).toBe(stringifyJson(object))
  })

  it('round-trip every object of every type [P190]', () => {
    const names = [
      'core/v1.Pod',
      'core/v1.Service',
      'core/v1.Secret',
      'apps/v1.Deployment',
      'apps/v1.ControllerRevision',
      'meta/v1.Status',
    ]
    names.push(
      'meta/v1.APIResourceList',
      'meta/v1.DeleteOptions',
      'authentication/v1.TokenReview',
      'apiextensions/v1.CustomResourceDefinition',
    )
    names.push('coordination/v1.Lease', 'core/v1.Event', 'admission/v1.AdmissionReview', 'meta/v1.PartialObjectMetadata')
    for (const name of names) {
      const type = types.struct(name)
      fc.assert(
        fc.property(arbitraryObject(type), (value) => {
          // Empty lists, maps and bytes have no protobuf form: one round trip removes them.
          const { object } = decodeProtobuf(type, readEnvelope(encodeProtobuf(type, decode(type, value).object)))
          const again = encodeProtobuf(type, object)
          expect(stringifyJson(decodeProtobuf(type, readEnvelope(again)).object)).toBe(stringifyJson(object))
          expect(stringifyJson(decode(type, parseJson(stringifyJson(object)).value).object)).toBe(stringifyJson(object))
        }),
        { numRuns: 60 },
      )
    }
  })

  it('merge the occurrences of a field that holds a message', () => {
    const pod = types.struct('core/v1.Pod')
    const bytes = (object: object) => encodeMessage(pod, decode(pod, object).object)
    const container = (name: string) => ({ name, image: 'i' })
    const parts = [
      { metadata: { name: 'a', labels: { z: '1', b: '2' } }, spec: { nodeName: 'n', containers: [container('x')] } },
      {
        metadata: { namespace: 's', labels: { a: '3', b: '4' } },
        spec: { securityContext: { runAsUser: 1 }, containers: [container('y')] },
      },
      { spec: { securityContext: { runAsGroup: 2 }, containers: [] } },
    ]
    // Strings are always present in messages, so later ones win.
    const merged = {
      metadata: { name: '', namespace: 's', labels: { a: '3', b: '4', z: '1' } },
      spec: { nodeName: '', securityContext: { runAsUser: 1, runAsGroup: 2 }, containers: [container('x'), container('y')] },
    }
    const whole = Buffer.concat(parts.slice(0, 2).map(bytes))
    const spec = bytes(parts[2] as object)
    // The third message contains only the spec, because its metadata would clear the namespace.
    const tail = spec.subarray(spec.indexOf(0x12, spec[1] as number))
    expect(decodeMessage(pod, Buffer.concat([whole, tail]))).toEqual(decodeMessage(pod, bytes(merged)))
  })

  it('merge many occurrences in linear time', () => {
    const pod = types.struct('core/v1.Pod')
    // metadata { labels { aN } } in one message each.
    const part = (i: number) => Uint8Array.from([0x0a, 9, 0x5a, 7, 0x0a, 5, ...Buffer.from(String(10_000 + i))])
    const repeated = (count: number) => {
      const begin = performance.now()
      decodeMessage(pod, Buffer.concat(Array.from({ length: count }, (_, i) => part(i))))
      return performance.now() - begin
    }
    repeated(1000)
    const best = (count: number) => Math.min(repeated(count), repeated(count), repeated(count))
    expect(best(40_000)).toBeLessThan(20 * Math.max(best(10_000), 10))
  })

  it('name the Go field of a wrong wire type', () => {
    const pod = types.struct('core/v1.Pod')
    expect(failure(() => decodeMessage(pod, unhex('08 01')))).toBe('proto: wrong wireType = 0 for field ObjectMeta')
    expect(failure(() => decodeMessage(pod, unhex('12 03 c0 01 01')))).toContain('wrong wireType = 0 for field ')
  })

  it('skip unknown fields and groups silently (difference 44) [P44]', () => {
    const known = '0a021a00'
    const unknown = ['f8ff0f01', 'f9ff0f0102030405060708', 'faff0f0161', 'fdff0f01020304', 'fbff0ffbff0f0801fcff0ffcff0f'].join(
      '',
    )
    expect(stringifyJson(decodeMessage(configMap, unhex(unknown + known + unknown)))).toBe(
      '{"metadata":{"creationTimestamp":null}}',
    )
    expect(decodeProtobuf(configMap, { ...readEnvelope(writeEnvelope({ raw: unhex(unknown) })) }).problems).toEqual([])
  })

  it('accept map entries in any order and keep the last duplicate', () => {
    const entry = (key: string, value: string) =>
      `12060a01${Buffer.from(key).toString('hex')}1201${Buffer.from(value).toString('hex')}`
    expect(stringifyJson(decodeMessage(configMap, unhex(entry('b', '1') + entry('a', '2') + entry('b', '3'))))).toContain(
      '"data":{"a":"2","b":"3"}',
    )
    expect(stringifyJson(decodeMessage(configMap, unhex('1200')))).toContain('"data":{"":""}')
  })

  it('accept packed numbers', () => {
    const context = types.struct('core/v1.PodSecurityContext')
    expect(decodeMessage(context, unhex('2203018001'))).toEqual({ supplementalGroups: [1, 128] })
    expect(decodeMessage(context, unhex('2001208001'))).toEqual({ supplementalGroups: [1, 128] })
  })

  it('are unavailable for types without protobuf', () => {
    expect(() => encodeProtobuf(types.struct('meta/v1.Table'), {})).toThrow(SchemaError)
  })

  it('replace invalid UTF-8 and treat hostile keys as data', () => {
    const object = decodeMessage(
      configMap,
      unhex('12 0c 0a 09 5f5f70726f746f5f5f 12 00'.replace('120c0a', '120d0a').replace('12 0c', '12 0d')),
    )
    expect(stringifyJson(object)).toContain('"data":{"__proto__":""}')
    expect(stringifyJson(decodeMessage(configMap, unhex('12060a01ff1201fe')))).toContain('"data":{"\ufffd":"\ufffd"}')
  })

  it.each([
    ['61ed a080 62e2 82', 'a\ufffd\ufffd\ufffdb\ufffd\ufffd'],
    ['f09f 98', '\ufffd\ufffd\ufffd'],
    ['c3a9 c3', '\u00e9\ufffd'],
    [`${'61'.repeat(30)}e282`, `${'a'.repeat(30)}\ufffd\ufffd`],
    ['efbb bf61', '\ufeffa'],
  ])('replace each byte of invalid UTF-8 separately, as in JSON: %s [S4]', (bytes, text) => {
    const value = bytes.replaceAll(' ', '')
    const length = (size: number) => size.toString(16).padStart(2, '0')
    const size = value.length / 2
    const { data } = decodeMessage(configMap, unhex(`12${length(size + 5)}0a016b12${length(size)}${value}`)) as { data: object }
    expect(data).toEqual({ k: text })
  })
})

describe('envelope', () => {
  const body = encodeProtobuf(configMap, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'a', creationTimestamp: null },
  })

  it('names the kind and contains the message [P34 P35 P36]', () => {
    expect(hex(body.subarray(0, 4))).toBe('6b387300')
    expect(readEnvelope(body)).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', contentEncoding: '', contentType: '' })
    expect(decodeProtobuf(configMap, readEnvelope(body)).object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a', creationTimestamp: null },
    })
  })

  it('may contain JSON [P36]', () => {
    const raw = new TextEncoder().encode('{"metadata":{"name":"a"},"extra":1,"data":{"k":"v","k":"w"}}')
    const envelope = readEnvelope(writeEnvelope({ apiVersion: 'v1', kind: 'ConfigMap', raw, contentType: 'application/json' }))
    const { object, problems } = decodeProtobuf(configMap, envelope)
    expect(stringifyJson(object)).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":null},"data":{"k":"w"}}',
    )
    expect(problems).toEqual(['unknown field "extra"', 'duplicate field "data.k"'])
    expect(failure(() => decodeProtobuf(configMap, { ...envelope, contentEncoding: 'gzip' }))).toBe(
      'unsupported content encoding "gzip"',
    )
  })

  it('rejects another prefix and an empty body [P34]', () => {
    expect(failure(() => readEnvelope(new Uint8Array()))).toBe('empty data')
    expect(failure(() => readEnvelope(unhex('6b387301')))).toBe(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    )
    expect(failure(() => readEnvelope(unhex('6b387300')))).toBe('empty body')
  })

  it('frames watch events', () => {
    const frame = encodeWatchFrame({ type: 'ADDED', object: body })
    expect(new DataView(frame.buffer, frame.byteOffset).getUint32(0)).toBe(frame.length - 4)
    const event = decodeWatchEvent(frame.subarray(4))
    expect(event.type).toBe('ADDED')
    expect(hex(event.object)).toBe(hex(body))
    expect(failure(() => decodeWatchEvent(frame.subarray(4, 20)))).toBe('unexpected EOF')
  })
})

describe('hostile bytes', () => {
  it.each([
    ['0a', 'unexpected EOF'],
    ['0a05', 'unexpected EOF'],
    ['0affffffff0f', 'unexpected EOF'],
    ['0affffffffffffffffff01', 'proto: negative length found during unmarshaling'],
    ['0affffffffffffffffffff', 'proto: integer overflow'],
    ['ffffffffffffffffffff01', 'proto: integer overflow'],
    ['00', 'proto: ConfigMap: illegal tag 0 (wire type 0)'],
    ['0c', 'proto: ConfigMap: wiretype end group for non-group'],
    ['0800', 'proto: wrong wireType = 0 for field ObjectMeta'],
    ['0f00', 'proto: wrong wireType = 7 for field ObjectMeta'],
    ['ff0f', 'proto: illegal wireType 7'],
    ['fb0f', 'unexpected EOF'],
    ['0a030a05', 'unexpected EOF'],
    ['0a030a056161', 'unexpected EOF'],
  ])('rejects %s: %s', (text, message) => {
    expect(failure(() => decodeMessage(configMap, unhex(text)))).toBe(message)
  })

  it('rejects deep nesting', () => {
    const crd = types.struct('apiextensions/v1.JSONSchemaProps')
    const notField = crd.field.get('not')?.proto?.number as number
    let bytes: Uint8Array = new Uint8Array()
    for (let i = 0; i < 3000; i++) bytes = nest(notField, bytes)
    expect(failure(() => decodeMessage(crd, bytes))).toBe('exceeded max depth')
    const groups = new Uint8Array(200_000).fill(0xfb & 0x7f)
    expect(failure(() => decodeMessage(configMap, groups))).toBe('unexpected EOF')
  })

  it('decodes or throws a DecodeError for truncated and altered bodies', () => {
    const pod = types.struct('core/v1.Pod')
    const spec = {
      containers: [{ name: 'c', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1' } } }],
      nodeSelector: { a: 'b' },
    }
    const whole = encodeProtobuf(
      pod,
      decode(pod, { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z' }, spec })
        .object,
    )
    const attempt = (bytes: Uint8Array) => failure(() => decodeProtobuf(pod, readEnvelope(bytes)))
    for (let length = 0; length < whole.length; length++) attempt(whole.subarray(0, length))
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length - 1), fc.nat(255), (at, byte, at2, byte2) => {
        const changed = whole.slice()
        changed[at] = byte
        changed[at2] = byte2
        attempt(changed)
      }),
      { numRuns: 2000 },
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void failure(() => decodeMessage(pod, bytes))),
      { numRuns: 2000 },
    )
  })
})

function nest(number: number, inner: Uint8Array): Uint8Array {
  const writer: number[] = []
  const push = (value: number) => {
    let rest = value
    while (rest > 127) {
      writer.push((rest & 127) | 128)
      rest = Math.floor(rest / 128)
    }
    writer.push(rest)
  }
  push(number * 8 + 2)
  push(inner.length)
  return Uint8Array.from([...writer, ...inner])
}
