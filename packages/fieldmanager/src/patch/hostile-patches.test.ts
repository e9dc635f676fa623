import { RandomChoices } from '@krmkit/base/random-choices'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { createTypeSource, type Field, type StructType, type TypeNode } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { FieldManagerError } from '../field-manager-error.ts'
import { applyPatch } from '../managed-fields/apply.direct.ts'
import { createTypeConverter } from '../managed-fields/type-converter.ts'
import { trackUpdate } from '../managed-fields/update.direct.ts'
import * as paced from '../paced.ts'
import { runCounting } from '../testing/counting.ts'
import { kindNames, modelFiles } from '../testing/model.ts'
import { jsonPatch } from './json-patch.direct.ts'
import { mergePatch } from './merge-patch.direct.ts'
import { strategicMergePatch } from './strategic-merge.direct.ts'

/** Generates values of wrong types, with directives at every level. */
class Hostile {
  readonly #random: RandomChoices

  constructor(random: RandomChoices) {
    this.#random = random
  }

  object(struct: StructType, depth = 0): JsonObject {
    const out: JsonObject = {}
    for (const field of struct.fields) {
      if (!this.#random.chance(depth === 0 ? 90 : 35)) continue
      out[field.json] = this.#value(field, depth)
      if (this.#random.chance(8)) out[`$setElementOrder/${field.json}`] = this.#value(field, depth)
      if (this.#random.chance(5)) out[`$deleteFromPrimitiveList/${field.json}`] = this.#value(field, depth)
    }
    if (this.#random.chance(5)) out.$patch = this.#random.pick(['delete', 'replace', 'merge', 'x', null, 1])
    if (this.#random.chance(5)) out.$retainKeys = this.#random.pick([[], ['name'], 'x', [1, null], {}])
    return out
  }

  #value(field: Field, depth: number): JsonValue {
    return this.#random.chance(20) ? this.#odd() : this.#node(field.type, depth, field.patchMergeKey)
  }

  #node(node: TypeNode, depth: number, mergeKey?: string): JsonValue {
    if (depth > 5) return null
    if (node.kind === 'struct') return this.object(node.struct(), depth + 1)
    if (node.kind !== 'list') return this.#odd()
    const items: JsonValue[] = []
    for (let i = this.#random.below(5); i > 0; i--) {
      const item = this.#random.chance(10) ? this.#odd() : this.#node(node.of, depth + 1)
      if (isJsonObject(item) && mergeKey !== undefined && this.#random.chance(80))
        item[mergeKey] = this.#random.pick<JsonValue>(['a', 'b', 'a', 80, null, {}, ['a'], ''])
      items.push(item)
    }
    return items
  }

  #odd(): JsonValue {
    const proto = JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":1}}') as JsonObject
    return this.#random.pick<JsonValue>([null, '', 'a', 0, -1, 1.5, true, [], {}, [[]], [null], ['a', 'a'], [1, 'a'], proto])
  }

  operation(): JsonValue {
    const step = () => this.#random.pick(['spec', 'metadata', 'data', '0', '-', '-1', '01', '__proto__', '~1', '', 'containers'])
    const pointer = () =>
      this.#random.pick(['', '/', 'x', `/${step()}`, `/${step()}/${step()}`, `/${step()}/${step()}/${step()}`])
    const op = this.#random.pick<JsonValue>(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x', null, 1])
    return { op, path: pointer(), from: pointer(), value: this.#odd() }
  }
}

/** The result as text, or the error that the client gets. */
function outcome(run: () => unknown): string {
  try {
    return JSON.stringify(run()) ?? 'undefined'
  } catch (error) {
    if (error instanceof FieldManagerError) return `${error.code}: ${error.message}`
    throw error
  }
}

describe('malformed patches', () => {
  const source = createTypeSource(modelFiles())
  const kinds = kindNames()
    .filter((name) => source.has(name))
    .map((name) => source.struct(name))
  const seed = 20_260_101

  it(`produce a result or a FieldManagerError for every kind of patch, equally in slices (seed ${seed})`, () => {
    const hostile = new Hostile(new RandomChoices(seed))
    const results = new Map<string, number>()
    for (const type of kinds) {
      for (let round = 0; round < 12; round++) {
        const original = hostile.object(type)
        const patch = hostile.object(type)
        const direct = outcome(() => strategicMergePatch(type, original, patch))
        const sliced = outcome(() => runCounting(paced.strategicMergePatch(type, original, patch)).value)
        expect(direct.startsWith('{')).toBe(sliced.startsWith('{'))
        if (direct.startsWith('{')) expect(JSON.parse(sliced)).toEqual(JSON.parse(direct))
        outcome(() => mergePatch(original, patch))
        outcome(() =>
          jsonPatch(
            original,
            Array.from({ length: 4 }, () => hostile.operation()),
          ),
        )
        results.set(direct.slice(0, 8), (results.get(direct.slice(0, 8)) ?? 0) + 1)
      }
    }
    expect(results.size).toBeGreaterThan(2)
  })

  it(`leave decodable managedFields or throw a known error (seed ${seed})`, () => {
    const hostile = new Hostile(new RandomChoices(seed))
    for (const type of kinds) {
      const types = createTypeConverter({ v: () => type })
      const named = () => ({ ...hostile.object(type), apiVersion: 'v', kind: 'K', metadata: { name: 'a' } })
      for (let round = 0; round < 6; round++) {
        const live = trackUpdate({ next: named(), manager: 'u', apiVersion: 'v', types })
        const request = { live, applied: named(), manager: 'm', force: round % 2 === 0, apiVersion: 'v', types }
        outcome(() => applyPatch(request))
        outcome(() => trackUpdate({ live, next: named(), manager: 'w', apiVersion: 'v', types }))
      }
    }
    expect(kinds.length).toBeGreaterThan(50)
  })
})
