import type { JsonObject } from '@krmkit/meta'
import { createTypeSource } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { FieldManagerError } from '../field-manager-error.ts'
import { modelFiles } from '../testing/model.ts'
import { deepFreeze, readOwnVectors } from '../testing/vectors.ts'
import { createThreeWayPatch, createTwoWayPatch } from './strategic-diff.ts'
import { strategicMergePatch } from './strategic-merge.direct.ts'

/** Random patches with the recorded results of the library that kube-apiserver uses. */

interface Recorded {
  readonly name: string
  readonly source: string
  readonly type: string
  readonly original: JsonObject
  readonly patch?: JsonObject
  readonly modified?: JsonObject
  readonly current?: JsonObject
  readonly result?: JsonObject
  readonly refused?: true
}

describe('recorded strategic merge patches [P145]', () => {
  const source = createTypeSource(modelFiles())

  it.each(readOwnVectors<Recorded>('recorded-patches.json'))('$name', (vector) => {
    const { original, patch, modified, current } = deepFreeze(vector)
    const type = source.struct(vector.type)
    const run = () => {
      if (patch !== undefined) return strategicMergePatch(type, original, patch)
      if (current !== undefined) return createThreeWayPatch(type, { original, modified: modified as JsonObject, current })
      return createTwoWayPatch(type, original, modified as JsonObject)
    }
    if (vector.refused) expect(run).toThrow(FieldManagerError)
    else expect(run()).toEqual(vector.result)
  })
})
