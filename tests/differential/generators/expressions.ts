import type { JsonValue } from '@krmkit/meta'
import type { RandomChoices } from '@krmkit/meta/random-choices'
import type { Scenario, Step } from '../scenario.ts'
import { randomExpression } from './expression-text.ts'

type Schema = Record<string, JsonValue>

const structs = {
  self: {
    s: 'string',
    n: 'int',
    d: 'double',
    b: 'bool',
    t: 'timestamp',
    l: 'list(string)',
    o: 'list(inner)',
    m: 'map(string, string)',
  },
  inner: { a: 'string', xs: 'list(string)' },
} as const

/** Definitions with rules over bounded and unbounded values, and objects that they judge. */
export function generateExpressions(random: RandomChoices): Scenario {
  const plural = 'exprs'
  const group = '{id}.expressions.example.com'
  const rule = () =>
    randomExpression('bool', 1 + random.below(3), random, {
      variables: [{ text: 'self', type: 'self' }],
      structs,
      release: '1.32',
    })
  const rules = Array.from({ length: 1 + random.below(3) }, () => ({ rule: rule() }))
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: 'expr', kind: 'Expr', listKind: 'ExprList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schemaOf(rules, random) } }],
    },
  }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const steps: Step[] = [
    { id: 'definition', method: 'POST', path: definitions, query: [['dryRun', 'All']], body: { json: definition } },
  ]
  for (let i = 0; i < 6; i++) {
    const other = structuredClone(definition)
    const [version] = other.spec.versions
    if (version !== undefined) version.schema.openAPIV3Schema = schemaOf([{ rule: rule() }], random)
    steps.push({ id: `other${i}`, method: 'POST', path: definitions, query: [['dryRun', 'All']], body: { json: other } })
  }
  return { area: 'expressions', steps }
}

function schemaOf(rules: readonly JsonValue[], random: RandomChoices): Schema {
  const limit = (keyword: string): Schema => (random.chance(60) ? { [keyword]: random.pick([1, 5, 20, 64]) } : {})
  const text = (): Schema => ({ type: 'string', ...limit('maxLength') })
  const list = (items: Schema): Schema => ({ type: 'array', items, ...limit('maxItems') })
  const spec: Schema = {
    type: 'object',
    properties: {
      s: text(),
      n: { type: 'integer' },
      d: { type: 'number' },
      b: { type: 'boolean' },
      t: { type: 'string', format: 'date-time' },
      l: list(text()),
      o: list({ type: 'object', properties: { a: text(), xs: list(text()) } }),
      m: { type: 'object', additionalProperties: text(), ...limit('maxProperties') },
    },
    'x-kubernetes-validations': [...rules],
  }
  return { type: 'object', properties: { spec } }
}
