import type { Environment } from '@krmkit/cel'
import type { Type } from '@krmkit/cel/types'
import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import { cel, loadCel } from '@krmkit/schema'

/** Type checking of policy expressions against the matched types. The result does not change what a policy decides. */

export interface ServedType {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Resolves resources to kinds and kinds to schemas. */
export interface PolicyTypeResolver {
  /** Kind of a resource; undefined when it is not served. */
  kindOf(resource: { readonly group: string; readonly version: string; readonly resource: string }): ServedType | undefined
  /** Schema of a kind, with references resolved; undefined when unknown. */
  schemaOf(type: ServedType): Promise<JsonObject | undefined>
}

export interface ExpressionWarning {
  /** Path of the expression, such as `spec.validations[0].expression`. */
  readonly fieldRef: string
  /** One message for each type that the expression fails to check against. */
  readonly warning: string
}

interface PolicySpec {
  readonly paramKind?: { readonly apiVersion: string; readonly kind: string } | null
  readonly matchConstraints?: { readonly resourceRules?: readonly MatchedRule[] | null } | null
  readonly variables?: readonly { readonly name: string; readonly expression: string }[] | null
  readonly validations?: readonly { readonly expression: string; readonly messageExpression?: string }[] | null
}

interface MatchedRule {
  readonly apiGroups?: readonly string[] | null
  readonly apiVersions?: readonly string[] | null
  readonly resources?: readonly string[] | null
}

/**
 * Checks the validations and message expressions of a ValidatingAdmissionPolicy against each type that its rules name.
 *
 * @example
 * ```ts
 * import { checkPolicyTypes } from '@krmkit/admission/policies'
 *
 * const resourceRules = [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }]
 * const spec = { matchConstraints: { resourceRules }, validations: [{ expression: 'object.spec.replica < 5' }] }
 * const metadata = { name: 'few-replicas' }
 * const policy = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata, spec }
 * const replicas = { type: 'object', properties: { replicas: { type: 'integer' } } }
 * const warnings = await checkPolicyTypes(policy, {
 *   kindOf: () => ({ group: 'apps', version: 'v1', kind: 'Deployment' }),
 *   schemaOf: async () => ({ type: 'object', properties: { spec: replicas } }),
 * })
 * warnings.map(({ fieldRef }) => fieldRef) // ['spec.validations[0].expression']
 * ```
 */
export async function checkPolicyTypes(
  policy: DeepReadonly<ApiObject>,
  known: PolicyTypeResolver,
): Promise<readonly ExpressionWarning[]> {
  const { spec = {} } = policy as { readonly spec?: PolicySpec }
  await loadCel()
  const { schemaDeclType: declaredBy } = cel().engine
  const typed = async (type: ServedType): Promise<Type | undefined> => {
    const schema = await known.schemaOf(type)
    return schema === undefined ? undefined : declaredBy(schema, type.kind)?.type
  }
  const param = spec.paramKind === undefined || spec.paramKind === null ? undefined : await typed(paramType(spec.paramKind))
  const checks: { readonly type: string; readonly scope: Environment }[] = []
  for (const type of matchedTypes(spec, known)) {
    const object = await typed(type)
    if (object !== undefined) checks.push({ type: formatType(type), scope: scopeFor(spec, object, param) })
  }
  const warnings: ExpressionWarning[] = []
  const check = (fieldRef: string, text: string) => {
    const found = checks.flatMap(({ type, scope }) => {
      const compiled = scope.compile(text)
      return 'problem' in compiled ? [`${type}: ${compiled.problem}\n`] : []
    })
    if (found.length > 0) warnings.push({ fieldRef, warning: found.join('\n') })
  }
  for (const [index, { expression, messageExpression = '' }] of (spec.validations ?? []).entries()) {
    const place = `spec.validations[${index}]`
    check(`${place}.expression`, expression)
    if (messageExpression !== '') check(`${place}.messageExpression`, messageExpression)
  }
  return warnings
}

/** The environment of expressions for one object type. Parameters whose type is unknown are not declared. */
function scopeFor(spec: PolicySpec, object: Type, paramType: Type | undefined): Environment {
  const { engine, storedExpressions: stored } = cel()
  const types = new Map<string, Type>()
  const scope = engine.admissionEnvironment(stored, {
    params: paramType !== undefined,
    authorizer: true,
    object,
    ...(paramType === undefined ? {} : { paramType }),
    ...((spec.variables ?? []).length === 0 ? {} : { variables: types }),
  })
  for (const { name, expression } of spec.variables ?? []) {
    const compiled = scope.compile(expression)
    types.set(name, 'problem' in compiled ? engine.dynType : engine.variableType(compiled.type))
  }
  return scope
}

/** Maximum number of types that are checked, as in kube-apiserver. */
const maxTypes = 10

/** The types that the rules name, sorted by group, version and kind. Rules with wildcards are skipped. */
function matchedTypes(spec: PolicySpec, known: PolicyTypeResolver): readonly ServedType[] {
  const found = new Map<string, ServedType>()
  for (const rule of spec.matchConstraints?.resourceRules ?? []) if (!collectTypes(rule, known, found)) break
  const order = ({ group, version, kind }: ServedType) => [group, version, kind]
  return [...found.values()].sort((a, b) => compareLists(order(a), order(b)))
}

/** Adds the types of a rule. @returns false when the maximum is reached. */
function collectTypes(rule: MatchedRule, known: PolicyTypeResolver, found: Map<string, ServedType>): boolean {
  const groups = [...(rule.apiGroups ?? [])].sort()
  const versions = [...(rule.apiVersions ?? [])].sort()
  if ([...groups, ...versions].some((name) => name.includes('*'))) return true
  const resources = (rule.resources ?? []).filter((name) => !/[*/]/.test(name)).sort()
  let count = 0
  for (const group of groups) {
    for (const version of versions) {
      for (const resource of resources) {
        const type = known.kindOf({ group, version, resource })
        if (type === undefined) continue
        found.set(formatType(type), type)
        if (++count === maxTypes) return false
      }
    }
  }
  return true
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((part, index) => part !== b[index])
  return at < 0 ? 0 : (a[at] as string) < (b[at] as string) ? -1 : 1
}

function paramType({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): ServedType {
  const slash = apiVersion.indexOf('/')
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind }
}

function formatType({ group, version, kind }: ServedType): string {
  return `${group}/${version}, Kind=${kind}`
}
