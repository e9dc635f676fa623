import type { ApiObject } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { SubjectAccessReview } from './authorization-v1.generated.ts'
import { ConfigMap, ResourceQuota } from './core-v1.generated.ts'
import type { KindHandle } from './kind-handle.ts'
import { PodDisruptionBudget } from './policy-v1.generated.ts'
import { decodeKind, encodeKind } from './protobuf.ts'

/** Map entries without a value in protobuf. The bytes are those of the stock types. */

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
/** An entry with the key `a` and an empty value, and one without a value. */
const empty = '12050a01611200'
const absent = '12030a0161'

it.each([
  ['a time', PodDisruptionBudget, { status: { disruptedPods: { a: null } } }, empty],
  ['a list', SubjectAccessReview, { spec: { user: 'u', extra: { a: null } } }, empty.replace(/^12/, '2a')],
  ['a string', ConfigMap, { data: { a: null } }, empty],
  ['bytes', ConfigMap, { binaryData: { a: null } }, absent.replace(/^12/, '1a')],
  ['empty bytes', ConfigMap, { binaryData: { a: '' } }, empty.replace(/^12/, '1a')],
  ['a quantity', ResourceQuota, { spec: { hard: { a: null } } }, '0a080a016112030a0130'],
] as const)('a map entry with null for %s', (_, kind, members, entry) => {
  const object = kind.decode({ kind: kind.kind, apiVersion: kind.apiVersion, metadata: { name: 'm' }, ...members })
  const bytes = encodeKind(kind as KindHandle<ApiObject>, object)
  expect(hexOf(bytes)).toContain(entry)
  // Lists are the only values that read as another one: as empty.
  expect(JSON.stringify(decodeKind(kind as KindHandle<ApiObject>, bytes))).toBe(
    JSON.stringify(object).replace('"extra":{"a":null}', '"extra":{"a":[]}'),
  )
})
