/** Kinds alone: decoding, defaulting and validating objects, and protobuf compared with the library alone. */
import { Deployment } from '@krmkit/kinds/apps/v1'
import { ConfigMap, Pod } from '@krmkit/kinds/core/v1'
import type { ApiObject } from '@krmkit/meta'
import { applyDefaults, decode, decodeProtobuf, encodeProtobuf, parseJson, readEnvelope, type StructType } from '@krmkit/schema'
import { Bench } from 'tinybench'
import { bytesOf, configMap, deployment } from '../objects.ts'
import { rawMessages } from './raw-protobuf.ts'

export interface KindsRow {
  readonly object: string
  readonly step: string
  readonly microseconds: number
}

interface Handle {
  type(): StructType
  decode(bytes: Uint8Array): ApiObject
  default(object: never): ApiObject
  validate(object: never): readonly unknown[]
}

/** A pod from the template of the Deployment. */
function podOf(name: string): object {
  const { template } = deployment(name, 1).spec
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...template.metadata }, spec: template.spec }
}

const subjects: readonly (readonly [name: string, handle: Handle, object: object])[] = [
  ['ConfigMap', ConfigMap as unknown as Handle, configMap('a', 1)],
  ['Pod', Pod as unknown as Handle, podOf('p')],
  ['Deployment', Deployment as unknown as Handle, deployment('d', 2)],
]

/** @param time milliseconds per measurement. */
export async function kindsRows(time: number): Promise<KindsRow[]> {
  const bench = new Bench({ time, warmupTime: time / 2 })
  const steps: { readonly object: string; readonly step: string }[] = []
  const add = (object: string, step: string, run: () => unknown) => {
    steps.push({ object, step })
    bench.add(`${object}: ${step}`, run)
  }
  for (const [name, handle, given] of subjects) {
    const type = handle.type()
    const bytes = bytesOf(given)
    const object = decode<ApiObject>(type, parseJson(bytes, { literals: true }).value).object
    const complete = handle.default(object as never)
    const wrong = handle.validate(complete as never)
    if (wrong.length > 0) throw new Error(`${name} is not valid: ${JSON.stringify(wrong)}`)
    add(name, `parse and decode ${bytes.byteLength} bytes`, () => decode(type, parseJson(bytes, { literals: true }).value))
    add(name, 'defaults of the data', () => applyDefaults(type, object as never))
    add(name, 'default', () => handle.default(object as never))
    add(name, 'validate what is complete', () => handle.validate(complete as never))
    add(name, 'decode, default, validate', () => handle.validate(handle.default(handle.decode(bytes) as never) as never))
    const envelope = encodeProtobuf(type, complete)
    const raw = rawMessages(type, complete)
    add(name, 'protobuf: encode, library alone', () => raw.encode())
    add(name, `protobuf: encode ${envelope.byteLength} bytes`, () => encodeProtobuf(type, complete))
    add(name, 'protobuf: decode, library alone', () => raw.decode())
    add(name, 'protobuf: decode', () => decodeProtobuf(type, readEnvelope(envelope)))
  }
  await bench.run()
  return bench.tasks.map((task, i) => {
    const { latency } = task.result as unknown as { latency: { p50?: number; mean: number } }
    return { ...steps[i]!, microseconds: (latency.p50 ?? latency.mean) * 1000 }
  })
}
