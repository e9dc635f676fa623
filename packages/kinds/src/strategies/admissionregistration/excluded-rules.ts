import type { NamingProfile } from '@krmkit/meta'
import type { RuleWithOperations } from '../../types/admissionregistration-v1.generated.ts'
import type { R } from '../shared/values.ts'

const reviews: Readonly<Record<string, readonly string[]>> = {
  authentication: ['selfsubjectreviews', 'tokenreviews'],
  authorization: ['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews'],
}

/**
 * Warnings for rules that name reviews of authentication and authorization, which no webhook receives. Rules with `*` are not meant for
 * them in particular and have no warning.
 */
export function excludedRuleWarnings(
  webhooks: readonly { readonly rules?: readonly R<RuleWithOperations>[] | null }[],
  { apiDomain }: NamingProfile,
): string[] {
  return webhooks.flatMap(({ rules }, i) =>
    (rules ?? []).flatMap((rule, j) =>
      reviewsOf(rule, apiDomain).map(
        (name) => `webhooks[${i}].rules[${j}]: ${name} is excluded from admission webhooks; this rule will have no effect`,
      ),
    ),
  )
}

/** The reviews that a rule names, each once. */
function reviewsOf({ apiGroups, resources }: R<RuleWithOperations>, apiDomain: string): string[] {
  const names = resources ?? []
  if (apiGroups?.includes('*') || names.includes('*')) return []
  const ending = `.${apiDomain}`
  const found = (apiGroups ?? []).flatMap((group) => {
    const known = group.endsWith(ending) ? (reviews[group.slice(0, -ending.length)] ?? []) : []
    return names.filter((name) => known.includes(name)).map((name) => `${name}.${group}`)
  })
  return [...new Set(found)]
}
