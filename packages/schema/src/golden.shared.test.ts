import { runAtOnce } from '@krmkit/base/work'
import { describe, expect, it } from 'vitest'
import { sharedFiles, sharedTypes } from '../testdata/types.ts'
import { decode } from './decode/decode.direct.ts'
import { decode as pacedDecode } from './decode/decode.ts'
import { normalize } from './decode/normalize.direct.ts'
import type { StructType } from './interfaces.ts'
import { DecodedSize } from './json/decoded-size.ts'
import { stringifyJson } from './json/encode-json.direct.ts'
import { stringifyJson as pacedStringify } from './json/encode-json.ts'
import { parseJson } from './json/parse-json.direct.ts'
import type { FactsSource } from './model/type-source.ts'
import { readEnvelope } from './protobuf/envelope.ts'
import { decodeProtobuf } from './protobuf/protobuf.direct.ts'
import { encodeProtobuf } from './protobuf/protobuf.ts'
import { parseYaml } from './yaml/parse-yaml.ts'
import { printYaml } from './yaml/print-yaml.ts'

const types = sharedTypes()
const files = new Map(sharedFiles('golden/').map(({ name, bytes }) => [name, bytes]))
const names = [...files.keys()].filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5))

/** Resolves a file name such as `apps.v1.Deployment`: group, version, kind. Options carry the group that uses them. */
function typeOf(name: string, source: FactsSource): StructType {
  const [group, version, kind] = split(name)
  const folder = source.folders.find((candidate) =>
    candidate === 'core' ? group === 'core' : source.group(candidate).group === group,
  )
  const full = `${folder}/${version}.${kind}`
  return source.struct(source.has(full) ? full : `meta/v1.${kind}`)
}

function split(name: string): [string, string, string] {
  const parts = name.split('.')
  const kind = parts.pop() as string
  const version = parts.pop() as string
  return [parts.join('.'), version, kind]
}

const textOf = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)
const pretty = (object: unknown) => JSON.stringify(object, undefined, 2)

describe.skipIf(types === undefined || names.length === 0)(
  'published objects (needs the shared folder with golden/ and model/)',
  () => {
    const source = types as FactsSource

    it('reproduces every file from JSON to JSON [P34]', () => {
      for (const name of names) {
        const bytes = files.get(`${name}.json`) as Uint8Array
        const type = typeOf(name, source)
        const { object, problems } = decode(type, parseJson(bytes, { literals: true }).value)
        expect(problems, name).toEqual([])
        expect(pretty(object), name).toBe(textOf(bytes).trimEnd())
        expect(normalize(type, object), name).toBe(object)
      }
    })

    it('decodes and prints every file with pauses and within its own size', () => {
      for (const name of names) {
        const bytes = files.get(`${name}.json`) as Uint8Array
        const type = typeOf(name, source)
        const { value } = parseJson(bytes, { literals: true })
        const { object } = decode(type, value)
        const text = stringifyJson(object)
        expect(stringifyJson(runAtOnce(pacedDecode(type, value)).object), name).toBe(text)
        expect(runAtOnce(pacedStringify(object)), name).toBe(text)
        const maxBytes = Buffer.byteLength(text)
        expect(stringifyJson(decode(type, value, { size: new DecodedSize(maxBytes) }).object), name).toBe(text)
        const size = new DecodedSize(maxBytes)
        const envelope = readEnvelope(files.get(`${name}.pb`) as Uint8Array)
        expect(stringifyJson(decodeProtobuf(type, envelope, { size }).object), name).toBe(text)
        expect(size.bytes, name).toBeLessThanOrEqual(maxBytes)
      }
    })

    it('reproduces every file from JSON to protobuf [P34 P35 P190]', () => {
      for (const name of names) {
        const type = typeOf(name, source)
        const { object } = decode(type, parseJson(files.get(`${name}.json`) as Uint8Array).value)
        expect(Buffer.from(encodeProtobuf(type, object)).toString('hex'), name).toBe(
          Buffer.from(files.get(`${name}.pb`) as Uint8Array).toString('hex'),
        )
      }
    })

    it('include more than 50 files', () => expect(names.length).toBeGreaterThan(50))

    it('reproduces every file from JSON to YAML and back', () => {
      for (const name of names) {
        const text = textOf(files.get(`${name}.yaml`))
        const json = textOf(files.get(`${name}.json`)).trimEnd()
        expect(printYaml(JSON.parse(json)), name).toBe(text)
        const { value, problems } = parseYaml(files.get(`${name}.yaml`) as Uint8Array)
        expect(problems, name).toEqual([])
        expect(pretty(decode(typeOf(name, source), value).object), name).toBe(json)
      }
    })

    it('reproduces every file from protobuf to JSON and to protobuf [P34 P35 P190]', () => {
      for (const name of names) {
        const type = typeOf(name, source)
        const bytes = files.get(`${name}.pb`) as Uint8Array
        const { object } = decodeProtobuf(type, readEnvelope(bytes))
        expect(pretty(object), name).toBe(textOf(files.get(`${name}.json`)).trimEnd())
        expect(Buffer.compare(encodeProtobuf(type, object), bytes), name).toBe(0)
      }
    })
  },
)
