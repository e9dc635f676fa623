import type { Type } from '@krmkit/cel/types'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { trimSpace } from '@krmkit/meta/go-text'
import type { LabelSelector } from '@krmkit/meta/selectors'
import { cel } from '@krmkit/schema'
import { compileSelector } from '../webhook/hook.ts'
import type { MatchCondition } from '../webhook/interfaces.ts'
import type { Rule } from '../webhook/rule.ts'
import type { ExpressionProgram } from './evaluate-expression.ts'
import { compileConditions } from './match-conditions.ts'

/** Policies and bindings, parsed for evaluation. */

export interface NamedRule extends Rule {
  readonly resourceNames?: readonly string[] | null
}

/** Which requests a policy or a binding matches. */
export interface MatchCriteria {
  readonly rules: readonly NamedRule[]
  readonly excluded: readonly NamedRule[]
  readonly equivalent: boolean
  readonly namespaceSelector: LabelSelector | Error
  readonly objectSelector: LabelSelector | Error
}

export interface MatchResourceMembers {
  readonly resourceRules?: readonly NamedRule[] | null
  readonly excludeResourceRules?: readonly NamedRule[] | null
  readonly matchPolicy?: string | null
  readonly namespaceSelector?: object | null
  readonly objectSelector?: object | null
}

export function criteriaOf(members: MatchResourceMembers): MatchCriteria {
  return {
    rules: members.resourceRules ?? [],
    excluded: members.excludeResourceRules ?? [],
    equivalent: (members.matchPolicy ?? 'Exact') === 'Equivalent',
    namespaceSelector: compileSelector(members.namespaceSelector),
    objectSelector: compileSelector(members.objectSelector),
  }
}

export interface ParamKind {
  readonly apiVersion: string
  readonly kind: string
}

export interface Validation {
  readonly expression: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string | null
}

interface PolicyMembers {
  readonly failurePolicy?: string | null
  readonly paramKind?: ParamKind | null
  readonly matchConstraints?: MatchResourceMembers | null
  readonly matchConditions?: readonly MatchCondition[] | null
  readonly variables?: readonly { readonly name: string; readonly expression: string }[] | null
  readonly validations?: readonly Validation[] | null
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[] | null
}

/** The expressions of a policy, compiled. */
export interface PolicyPrograms {
  readonly conditions: readonly ExpressionProgram[]
  readonly variables: ReadonlyMap<string, ExpressionProgram>
  readonly validations: readonly {
    readonly validation: Validation
    readonly source: ExpressionProgram
    readonly message: ExpressionProgram | undefined
  }[]
  readonly annotations: readonly { readonly key: string; readonly source: ExpressionProgram }[]
}

export interface Policy {
  readonly name: string
  readonly criteria: MatchCriteria
  readonly paramKind: ParamKind | undefined
  readonly failsOpen: boolean
  /** Compiled on first use; the expression engine must be loaded. */
  programs(): PolicyPrograms
}

export interface Binding {
  readonly name: string
  readonly policyName: string
  /** Absent: the binding matches whatever its policy matches. */
  readonly criteria: MatchCriteria | undefined
  readonly paramRef: ParamRef | undefined
  readonly actions: readonly string[]
}

export interface ParamRef {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: object | null
  readonly parameterNotFoundAction?: string | null
}

export function policyOf(object: DeepReadonly<ApiObject>): Policy {
  const { spec = {} } = object as { readonly spec?: PolicyMembers }
  let programs: PolicyPrograms | undefined
  return {
    name: object.metadata.name ?? '',
    criteria: criteriaOf(spec.matchConstraints ?? {}),
    paramKind: spec.paramKind ?? undefined,
    failsOpen: spec.failurePolicy === 'Ignore',
    programs() {
      programs ??= compilePolicy(spec)
      return programs
    },
  }
}

export function bindingOf(object: DeepReadonly<ApiObject>): Binding {
  const { spec = {} } = object as {
    readonly spec?: {
      readonly policyName?: string
      readonly matchResources?: MatchResourceMembers | null
      readonly paramRef?: ParamRef | null
      readonly validationActions?: readonly string[] | null
    }
  }
  return {
    name: object.metadata.name ?? '',
    policyName: spec.policyName ?? '',
    criteria: spec.matchResources === undefined || spec.matchResources === null ? undefined : criteriaOf(spec.matchResources),
    paramRef: spec.paramRef ?? undefined,
    actions: spec.validationActions ?? [],
  }
}

function compilePolicy(spec: PolicyMembers): PolicyPrograms {
  const { engine, storedExpressions: stored } = cel()
  const params = spec.paramKind !== undefined && spec.paramKind !== null
  const types = new Map<string, Type>()
  const declared = (spec.variables ?? []).length === 0 ? {} : { variables: types }
  const compile = (text: string, options: { kinds?: readonly Type['kind'][]; authorizer?: boolean } = {}): ExpressionProgram => {
    const scope = engine.admissionEnvironment(stored, { params, authorizer: options.authorizer ?? true, ...declared })
    return { text, compiled: engine.compileExpression(scope, text, { kinds: options.kinds }) }
  }
  const variables = compileVariables(spec.variables ?? [], compile, types)
  return {
    conditions: compileConditions(spec.matchConditions ?? [], { params }),
    variables,
    validations: (spec.validations ?? []).map((validation) => ({
      validation,
      source: compile(validation.expression, { kinds: ['bool'] }),
      message:
        trimSpace(validation.messageExpression ?? '') === ''
          ? undefined
          : compile(validation.messageExpression as string, { kinds: ['string'], authorizer: false }),
    })),
    annotations: (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      source: compile(valueExpression, { kinds: ['string', 'null'] }),
    })),
  }
}

/** Compiles the variables of a policy in their order. Each may use those before it: its type is added to `types`. */
export function compileVariables(
  declared: readonly { readonly name: string; readonly expression: string }[],
  compile: (text: string) => ExpressionProgram,
  types: Map<string, Type>,
): ReadonlyMap<string, ExpressionProgram> {
  const { engine } = cel()
  const variables = new Map<string, ExpressionProgram>()
  for (const { name, expression } of declared) {
    const source = compile(expression)
    variables.set(name, source)
    types.set(name, 'problem' in source.compiled ? engine.dynType : engine.variableType(source.compiled.type))
  }
  return variables
}
