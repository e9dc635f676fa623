import type { Attributes } from '@krmkit/authorization'
import type { ResourceAttributes } from '@krmkit/kinds/authorization/v1'
import { Path } from '@krmkit/meta'
import { type FieldRequirement, parseFieldSelector, validateLabelSelector } from '@krmkit/meta/selectors'
import { labelsOf } from '../filters/authorization.ts'

/**
 * The selectors of an access review. Malformed requirements are dropped and reported in `problems`. Without them, the review covers more
 * objects and never fewer.
 */
export function reviewSelectors(
  asked: ResourceAttributes,
): Pick<Attributes, 'fieldSelector' | 'labelSelector'> & { readonly problems: readonly string[] } {
  const fields = fieldsAsked(asked)
  const labels = labelsAsked(asked)
  const problems = [problemOf('fieldSelector', fields), problemOf('labelSelector', labels)]
  return {
    fieldSelector: fields.requirements,
    labelSelector: labels.requirements,
    problems: problems.filter((problem) => problem !== undefined),
  }
}

interface Understood<T> {
  readonly requirements: readonly T[] | undefined
  readonly isWhole: boolean
}

function problemOf(member: string, { requirements = [], isWhole }: Understood<unknown>): string | undefined {
  if (isWhole) return undefined
  return `spec.resourceAttributes.${member} ${requirements.length > 0 ? 'partially ' : ''}ignored due to parse error`
}

function fieldsAsked({ fieldSelector }: ResourceAttributes): Understood<FieldRequirement> {
  const { rawSelector = '', requirements = [] } = fieldSelector ?? {}
  if (rawSelector !== '') {
    try {
      return { requirements: parseFieldSelector(rawSelector).requirements, isWhole: true }
    } catch {
      return { requirements: undefined, isWhole: false }
    }
  }
  const known = requirements.flatMap(({ key = '', operator, values = [] }): FieldRequirement[] =>
    values.length === 1 && (operator === 'In' || operator === 'NotIn')
      ? [{ field: key, operator: operator === 'In' ? '=' : '!=', value: values[0]! }]
      : [],
  )
  return { requirements: known, isWhole: known.length === requirements.length }
}

function labelsAsked({ labelSelector }: ResourceAttributes): Understood<NonNullable<Attributes['labelSelector']>[number]> {
  const { rawSelector = '', requirements = [] } = labelSelector ?? {}
  if (rawSelector !== '') {
    const read = labelsOf(rawSelector)
    return { requirements: read, isWhole: read !== undefined }
  }
  const known = requirements
    .map(({ key = '', operator = '', values }) => ({ key, operator, ...(values === undefined ? {} : { values }) }))
    .filter((requirement) => validateLabelSelector({ matchExpressions: [requirement] }, Path.of('selector')).length === 0)
  return { requirements: known, isWhole: known.length === requirements.length }
}
