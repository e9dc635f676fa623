import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Scenario, Step } from '../scenario.ts'
import { schemaOf, specStructs } from './expression-objects.ts'
import { generateExpressionPolicies } from './expression-policies.ts'
import { randomExpression } from './expression-text.ts'

/** Definitions with rules over bounded and unbounded values; or policies with expressions, and objects that they judge. */
export function generateExpressions(random: RandomChoices): Scenario {
  if (random.chance(50)) return generateExpressionPolicies(random)
  const plural = 'exprs'
  const group = '{id}.expressions.example.com'
  const rule = () =>
    randomExpression('bool', 1 + random.below(3), random, {
      variables: [{ text: 'self', type: 'self' }],
      structs: specStructs,
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
