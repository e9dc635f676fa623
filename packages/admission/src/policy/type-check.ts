import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import { cel, loadCel } from '@krmkit/schema'
import type { Environment, Type } from '@krmkit/schema/cel'

/** What the types of the objects that a policy matches say about its expressions. Nothing here changes what a policy decides. */

export interface ServedType {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** What the server knows about types. */
export interface KnownTypes {
  /** Kind of a resource; `undefined` where it is not served. */
  kindOf(resource: { readonly group: string; readonly version: string; readonly resource: string }): ServedType | undefined
  /** Schema of a kind without references; `undefined` where there is none. */
  schemaOf(type: ServedType): Promise<JsonObject | undefined>
}

export interface ExpressionWarning {
  /** Where the expression stands: `spec.validations[0].expression`. */
  readonly fieldRef: string
  /** For each type that it does not fit, what is wrong. */
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

/** Expressions of validations and their messages against each type that the rules of the policy name. */
export async function checkPolicyTypes(
  policy: DeepReadonly<ApiObject>,
  known: KnownTypes,
): Promise<readonly ExpressionWarning[]> {
  const { spec = {} } = policy as { readonly spec?: PolicySpec }
  await loadCel()
  const { schemaDeclType: declaredBy } = cel().engine
  const typed = async (type: ServedType): Promise<Type | undefined> => {
    const schema = await known.schemaOf(type)
    return schema === undefined ? undefined : declaredBy(schema, type.kind)?.type
  }
  const param = spec.paramKind === undefined || spec.paramKind === null ? undefined : await typed(paramType(spec.paramKind))
  const checks: { readonly shown: string; readonly scope: Environment }[] = []
  for (const type of matchedTypes(spec, known)) {
    const object = await typed(type)
    if (object !== undefined) checks.push({ shown: shownType(type), scope: scopeFor(spec, object, param) })
  }
  const warnings: ExpressionWarning[] = []
  const check = (fieldRef: string, text: string) => {
    const found = checks.flatMap(({ shown, scope }) => {
      const compiled = scope.compile(text)
      return 'problem' in compiled ? [`${shown}: ${compiled.problem}\n`] : []
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

/** What expressions see when the object has one type. A parameter whose type is not known can be anything. */
function scopeFor(spec: PolicySpec, object: Type, paramType: Type | undefined): Environment {
  const { engine, storedExpressions: stored } = cel()
  const types = new Map<string, Type>()
  const scope = engine.admissionEnvironment(stored, {
    params: spec.paramKind !== undefined && spec.paramKind !== null,
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

/** One rule names so many types at most. */
const maxTypes = 10

/** In the order of group, version and kind. Rules with wildcards say nothing about types. */
function matchedTypes(spec: PolicySpec, known: KnownTypes): readonly ServedType[] {
  const found = new Map<string, ServedType>()
  for (const rule of spec.matchConstraints?.resourceRules ?? []) if (!collectTypes(rule, known, found)) break
  const order = ({ group, version, kind }: ServedType) => [group, version, kind]
  return [...found.values()].sort((a, b) => compareLists(order(a), order(b)))
}

/** `false` when a rule has named as many as are looked at. */
function collectTypes(rule: MatchedRule, known: KnownTypes, found: Map<string, ServedType>): boolean {
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
        found.set(shownType(type), type)
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

function shownType({ group, version, kind }: ServedType): string {
  return `${group}/${version}, Kind=${kind}`
}
