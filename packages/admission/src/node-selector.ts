import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { type LabelOperator, LabelRequirement } from '@krmkit/meta/selectors'

/** Selectors of nodes. */

interface Expression {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[] | null
}

interface Term {
  readonly matchExpressions?: readonly Expression[] | null
  readonly matchFields?: readonly Expression[] | null
}

/** A selector of nodes: one of its terms must match. */
export interface NodeSelector {
  readonly nodeSelectorTerms?: readonly Term[] | null
}

const operators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
}

/** Whether a term of the selector matches the node. A term without requirements matches no node. */
export function selectsNode({ nodeSelectorTerms }: NodeSelector, { metadata }: DeepReadonly<ApiObject>): boolean {
  const { labels, name = '' } = metadata
  return (nodeSelectorTerms ?? []).some(({ matchExpressions, matchFields }) => {
    const [expressions, fields] = [matchExpressions ?? [], matchFields ?? []]
    if (expressions.length + fields.length === 0) return false
    return expressions.every((each) => holds(each, labels)) && fields.every((each) => holds(each, { 'metadata.name': name }))
  })
}

function holds({ key, operator, values }: Expression, labels: Readonly<Record<string, string>> | undefined): boolean {
  const known = operators[operator]
  return known !== undefined && new LabelRequirement(key, known, values ?? []).matches(labels)
}
