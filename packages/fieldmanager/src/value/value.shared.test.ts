import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { readVectors, sharedMissing } from '../testing/shared.ts'
import { equalValues } from './equal.direct.ts'
import { canonicalJson, parseJsonText } from './json.ts'
import { compareValues } from './order.ts'

type Vector = JsonObject & { id: string; kind: string }

describe.skipIf(sharedMissing)(`value: shared vectors ${sharedMissing ?? ''}`, () => {
  for (const line of readVectors('value.jsonl')) {
    const vector = line as Vector
    if (vector.goOnly) it.skip(`${vector.id}: a value that exists in Go only`, () => {})
    else it(`${vector.kind} ${vector.id}`, () => checks[vector.kind]?.(vector))
  }
})

const checks: Record<string, (vector: Vector) => void> = {
  valueCompare(vector) {
    const a = vector.a as JsonValue
    const b = vector.b as JsonValue
    expect(Math.sign(compareValues(a, b))).toBe(vector.compare)
    expect(Math.sign(compareValues(b, a))).toBe(0 - (vector.compare as number) + 0)
    expect(equalValues(a, b)).toBe(vector.eq)
  },
  jsonValid(vector) {
    expect(canonicalJson(parseJsonText(vector.json as string))).toBe(vector.canonical)
  },
  jsonInvalid(vector) {
    if (typeof vector.json === 'string') expect(() => parseJsonText(vector.json as string)).toThrow()
    else {
      const bytes = Uint8Array.from(atob((vector.base64 ?? vector.jsonBase64) as string), (c) => c.charCodeAt(0))
      expect(() => parseJsonText(new TextDecoder('utf-8', { fatal: true }).decode(bytes))).toThrow()
    }
  },
}
