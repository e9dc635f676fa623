import { type NamingProfile, stockProfile } from '@krmkit/meta'
import { validateDns1123Subdomain } from '@krmkit/meta/names'
import { z } from 'zod'
import { AuditError } from './audit-error.ts'
import type { AuditDecision, AuditLevel, AuditPolicy, AuditStage } from './interfaces.ts'
import { type AuditRule, ruleMatches } from './policy-rule.ts'

const levels: readonly AuditLevel[] = ['None', 'Metadata', 'Request', 'RequestResponse']
const stages: readonly AuditStage[] = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic']

const texts = z.array(z.string()).exactOptional()

const policySchema = z.strictObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({}).exactOptional(),
  rules: z.array(
    z.strictObject({
      level: z.enum(levels),
      users: texts,
      userGroups: texts,
      verbs: texts,
      resources: z
        .array(z.strictObject({ group: z.string().exactOptional(), resources: texts, resourceNames: texts }))
        .exactOptional(),
      namespaces: texts,
      nonResourceURLs: texts,
      omitStages: z.array(z.enum(stages)).exactOptional(),
      omitManagedFields: z.boolean().exactOptional(),
    }),
  ),
  omitStages: z.array(z.enum(stages)).exactOptional(),
  omitManagedFields: z.boolean().exactOptional(),
})

/**
 * Creates a policy from a `Policy` object of `audit.k8s.io/v1`. The first matching rule decides; requests that match no rule are not
 * audited.
 *
 * @throws AuditError `InvalidPolicy` with the path of the invalid field.
 * @example
 * ```ts
 * import { auditPolicy } from '@krmkit/apiserver/audit'
 *
 * const rules = [{ level: 'Metadata', verbs: ['create', 'delete'] }, { level: 'None' }]
 * const policy = auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules })
 * const pod = { isResource: true, group: '', resource: 'pods', subresource: '', namespace: 'shop', name: 'web', path: '' }
 * policy.decide({ ...pod, user: { username: 'jane', groups: [] }, verb: 'delete' }).level // 'Metadata'
 * ```
 */
export function auditPolicy(value: unknown, { apiDomain }: NamingProfile = stockProfile): AuditPolicy {
  const parsed = policySchema.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw invalid(`${(issue?.path ?? []).map(String).join('.') || 'policy'}: ${issue?.message}`)
  }
  const policy = parsed.data
  if (policy.kind !== 'Policy' || policy.apiVersion !== `audit.${apiDomain}/v1`) {
    throw invalid(`expected Policy of audit.${apiDomain}/v1, got ${policy.kind} of ${policy.apiVersion}`)
  }
  if (policy.rules.length === 0) throw invalid('rules must not be empty')
  for (const [index, rule] of policy.rules.entries()) validateRule(rule, `rules.${index}`)
  const rules = policy.rules.map((rule) => ({
    rule,
    decision: {
      level: rule.level,
      omitStages: new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])]),
      omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields ?? false,
    } satisfies AuditDecision,
  }))
  return {
    decide: (attributes) => rules.find(({ rule }) => ruleMatches(rule, attributes))?.decision ?? notAudited,
  }
}

const notAudited: AuditDecision = { level: 'None', omitStages: new Set(), omitManagedFields: false }

/**
 * A policy with the same decision for every request.
 *
 * @see {@link auditLog} for an example.
 */
export function fixedAuditPolicy(level: AuditLevel, omitStages: readonly AuditStage[] = []): AuditPolicy {
  const decision: AuditDecision = { level, omitStages: new Set(omitStages), omitManagedFields: false }
  return { decide: () => decision }
}

function validateRule({ nonResourceURLs = [], resources = [], namespaces = [] }: AuditRule, at: string): void {
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    throw invalid(`${at}: a rule cannot apply to both resources and non-resource URLs`)
  }
  for (const url of nonResourceURLs) {
    if (url === '*') continue
    if (!url.startsWith('/')) throw invalid(`${at}.nonResourceURLs: ${JSON.stringify(url)} must begin with "/"`)
    if (url.slice(0, -1).includes('*'))
      throw invalid(`${at}.nonResourceURLs: the wildcard of ${JSON.stringify(url)} must be the last character`)
  }
  for (const { group = '', resources: names = [], resourceNames = [] } of resources) {
    if (group !== '' && validateDns1123Subdomain(group).length > 0)
      throw invalid(`${at}.resources: ${JSON.stringify(group)} is not a valid group name`)
    if (resourceNames.length > 0 && names.length === 0) throw invalid(`${at}.resources: resourceNames requires resources`)
  }
}

function invalid(problem: string): AuditError {
  return new AuditError({ code: 'InvalidPolicy', message: `invalid audit policy: ${problem}` })
}
