import { Environment } from '@krmkit/cel'
import { createFeatures, type JsonObject, type JsonValue } from '@krmkit/meta'
import { errorsAt, formatFieldError } from '@krmkit/meta/validation'
import { expect, it } from 'vitest'
import { createRuleTree, type RuleNode } from './rule-tree.ts'
import { validateRules } from './validate-rules.direct.ts'

const environment = Environment.ofRelease('1.33')

function messages(schema: JsonObject, value: JsonValue): string[] {
  const tree = createRuleTree(schema, { environment: () => environment, root: false }) as RuleNode
  const errors = validateRules(tree, value)
  return ['1.34', '1.35'].flatMap((version) => errorsAt(errors, createFeatures(version).release).map(formatFieldError))
}

const rules = (reason?: string) => [{ rule: 'false', message: 'never', ...(reason === undefined ? {} : { reason }) }]

it.each<[JsonObject, JsonValue, string, string]>([
  [{ type: 'string', 'x-kubernetes-validations': rules() }, 'a', 'Invalid value: "string": never', 'Invalid value: "a": never'],
  [{ type: 'integer', 'x-kubernetes-validations': rules() }, 7, 'Invalid value: "integer": never', 'Invalid value: 7: never'],
  [
    { type: 'boolean', 'x-kubernetes-validations': rules() },
    false,
    'Invalid value: "boolean": never',
    'Invalid value: false: never',
  ],
  [{ type: 'object', 'x-kubernetes-validations': rules() }, {}, 'Invalid value: "object": never', 'Invalid value: never'],
  [
    { type: 'string', 'x-kubernetes-validations': rules('FieldValueDuplicate') },
    'a',
    'Duplicate value: "string"',
    'Duplicate value: "a"',
  ],
  [
    { type: 'object', 'x-kubernetes-validations': rules('FieldValueDuplicate') },
    {},
    'Duplicate value: "object"',
    'Duplicate value',
  ],
  [{ type: 'string', 'x-kubernetes-validations': rules('FieldValueForbidden') }, 'a', 'Forbidden: never', 'Forbidden: never'],
])('a violated rule of %j shows the value from 1.35 on', (schema, value, before, after) => {
  expect(messages(schema, value)).toEqual([`<nil>: ${before}`, `<nil>: ${after}`])
})
