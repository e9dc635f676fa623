import { readFileSync } from 'node:fs'
import { Environment } from '@krmkit/cel'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { formatFieldError } from '@krmkit/meta/validation'
import { describe, expect, it } from 'vitest'
import { createRuleTree, type RuleNode } from './rule-tree.ts'
import { validateRules } from './validate-rules.direct.ts'

/** Vectors of schema rules and values. */

interface Vector {
  readonly name: string
  readonly schema: JsonObject
  readonly value: JsonValue
  readonly old?: JsonValue
  readonly budget?: number
  readonly errors: readonly string[]
  readonly warnings?: readonly string[]
}

const file = new URL('../../testdata/cel-rules.json', import.meta.url)
const vectors = JSON.parse(readFileSync(file, 'utf8')) as readonly Vector[]
const environment = Environment.ofRelease('1.33')

function treeOf(schema: JsonObject): RuleNode | undefined {
  return createRuleTree(schema, { environment: () => environment, root: false })
}

describe('rules', () => {
  it.each(vectors)('$name', ({ schema, value, old, budget, errors, warnings = [] }) => {
    const warned: string[] = []
    const found = validateRules(treeOf(schema) as RuleNode, value, {
      old,
      warn: (text) => warned.push(text),
      fieldAt: (path) => path.replace(/^\./, ''),
      ...(budget === undefined ? {} : { budget: { cost: budget } }),
    })
    expect(found.map(formatFieldError)).toEqual(errors)
    expect(warned).toEqual(warnings)
  })

  it('are undefined for schemas without rules', () => {
    expect(treeOf({ type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } })).toBeUndefined()
  })
})
