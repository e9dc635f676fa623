/** Members that validating and mutating policies share. */

import type { Work } from '@krmkit/base/work'
import type { Type } from '@krmkit/cel/types'
import { trimSpace } from '@krmkit/meta/go-text'
import { validateDns1035Label, validateDns1123Subdomain } from '@krmkit/meta/names'
import type {
  MatchResources,
  ParamKind,
  ValidatingAdmissionPolicySpec,
  Variable,
} from '../../types/admissionregistration-v1.generated.ts'
import { validateEnum } from '../shared/enums.ts'
import { semanticEqual } from '../shared/equality.direct.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { isEmpty, isSet, type R } from '../shared/values.ts'
import { type ExpressionContext, expressionContext, validateExpression, variableType } from './admission-expressions.ts'
import { validateMatchConditions } from './match-conditions.ts'
import { validateMatchResources } from './match-resources.ts'
import { failurePolicies } from './rules.ts'

/** Environment of the expressions of a policy. */
export interface PolicyEnvironment {
  readonly params: boolean
  readonly checks: ExpressionContext
  readonly variables: Map<string, Type> | undefined
}

/** Expressions may use the variables before them. */
export function compilePolicyExpression(
  text: string,
  at: FieldPath,
  {
    environment,
    authorizer = true,
    ...result
  }: {
    readonly environment: PolicyEnvironment
    readonly authorizer?: boolean
    readonly kinds?: readonly Type['kind'][]
    /** Result type of a mutation. */
    readonly mutation?: Type
  },
): Type | undefined {
  const { params, checks, variables } = environment
  const scope = { params, authorizer, ...(variables === undefined ? {} : { variables }) }
  return validateExpression(text, at, { scope, checks, ...result })
}

export function validateParamKind({ apiVersion = '', kind = '' }: R<ParamKind>, at: FieldPath): void {
  const here = at.child('apiVersion')
  const parts = apiVersion === '/' ? [''] : apiVersion.split('/')
  const version = parts.at(-1) ?? ''
  const group = parts.length === 2 ? (parts[0] ?? '') : ''
  if (apiVersion === '') here.required()
  else if (parts.length > 2) here.invalid(apiVersion, `unexpected GroupVersion string: ${apiVersion}`)
  else {
    const wrongGroup = group === '' ? [] : validateDns1123Subdomain(group)
    if (wrongGroup.length > 0) here.invalid(group, wrongGroup.join(','))
    const wrongVersion = validateDns1035Label(version)
    if (version === '') here.invalid(apiVersion, 'version must be specified')
    else if (wrongVersion.length > 0) here.invalid(version, wrongVersion.join(','))
  }
  const wrongKind = validateDns1035Label(kind.toLowerCase())
  if (kind === '') at.child('kind').required()
  else if (wrongKind.length > 0) {
    at.child('kind').invalid(kind, `may have mixed case, but should otherwise match: ${wrongKind.join(',')}`)
  }
}

/** Reserved words of the expression language. */
const reservedWords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

export function* validateVariables(
  variables: readonly R<Variable>[] | undefined,
  at: FieldPath,
  environment: PolicyEnvironment,
): Work {
  for (const [i, { name = '', expression = '' }] of (variables ?? []).entries()) {
    const here = at.index(i)
    if (trimSpace(name) === '') here.child('name').required('name is not specified')
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || reservedWords.has(name)) {
      here.child('name').invalid(name, 'name is not a valid CEL identifier')
    }
    if (trimSpace(expression) === '') here.child('expression').required('expression is not specified')
    else
      environment.variables?.set(
        name,
        variableType(compilePolicyExpression(expression, here.child('expression'), { environment })),
      )
    yield true
  }
}

/** Members of a spec that both kinds of policies have. */
type PolicySpec = Pick<
  ValidatingAdmissionPolicySpec,
  'failurePolicy' | 'paramKind' | 'matchConstraints' | 'matchConditions' | 'variables'
>

/**
 * Validates the shared members of a policy.
 *
 * @param stored expressions of the stored policy, which stay valid
 * @returns the environment of the expressions that follow
 */
export function* validatePolicySpec(
  spec: R<PolicySpec>,
  old: R<PolicySpec> | undefined,
  at: FieldPath,
  { stored, validateConstraints }: PolicySpecRules,
): Work<PolicyEnvironment> {
  if (!isSet(spec.failurePolicy)) at.child('failurePolicy').required()
  validateEnum(spec.failurePolicy, at.child('failurePolicy'), failurePolicies)
  if (isSet(spec.paramKind)) validateParamKind(spec.paramKind, at.child('paramKind'))
  const constraints = at.child('matchConstraints')
  if (isSet(spec.matchConstraints)) {
    validateMatchResources(spec.matchConstraints, constraints)
    if (isEmpty(spec.matchConstraints.resourceRules)) constraints.child('resourceRules').required()
    validateConstraints?.(spec.matchConstraints, constraints)
  } else constraints.required()
  const same =
    old !== undefined && semanticEqual(spec.paramKind, old.paramKind) && semanticEqual(spec.matchConditions, old.matchConditions)
  const params = isSet(spec.paramKind)
  const checks = expressionContext(stored, at.errors.context)
  if (!same) yield* validateMatchConditions(spec.matchConditions, at.child('matchConditions'), { params, checks })
  const environment: PolicyEnvironment = { params, checks, variables: isEmpty(spec.variables) ? undefined : new Map() }
  yield* validateVariables(spec.variables, at.child('variables'), environment)
  return environment
}

interface PolicySpecRules {
  readonly stored: ReadonlySet<string>
  /** Further rules of `matchConstraints`. */
  readonly validateConstraints?: (constraints: R<MatchResources>, at: FieldPath) => void
}
