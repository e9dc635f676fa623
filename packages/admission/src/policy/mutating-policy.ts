import type { Type } from '@krmkit/cel/types'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { cel } from '@krmkit/schema'
import type { MatchCondition } from '../webhook/interfaces.ts'
import type { ExpressionProgram } from './evaluate-expression.ts'
import { compileConditions } from './match-conditions.ts'
import { compileVariables, criteriaOf, type MatchCriteria, type MatchResourceMembers, type ParamKind } from './policy.ts'

/** Mutating policies, parsed for evaluation. */

export interface Mutation {
  readonly type: 'ApplyConfiguration' | 'JSONPatch'
  readonly source: ExpressionProgram
}

/** The expressions of a mutating policy, compiled. */
export interface MutatingPrograms {
  readonly conditions: readonly ExpressionProgram[]
  readonly variables: ReadonlyMap<string, ExpressionProgram>
  readonly mutations: readonly Mutation[]
}

export interface MutatingPolicy {
  readonly name: string
  readonly criteria: MatchCriteria
  readonly paramKind: ParamKind | undefined
  readonly failsOpen: boolean
  /** The policy runs again when a later plugin or policy changes the object. */
  readonly reinvocable: boolean
  /** Compiled on first use; the expression engine must be loaded. */
  programs(): MutatingPrograms
}

interface MutatingPolicyMembers {
  readonly failurePolicy?: string | null
  readonly paramKind?: ParamKind | null
  readonly reinvocationPolicy?: string | null
  readonly matchConstraints?: MatchResourceMembers | null
  readonly matchConditions?: readonly MatchCondition[] | null
  readonly variables?: readonly { readonly name: string; readonly expression: string }[] | null
  readonly mutations?:
    | readonly {
        readonly patchType?: string
        readonly applyConfiguration?: { readonly expression?: string } | null
        readonly jsonPatch?: { readonly expression?: string } | null
      }[]
    | null
}

export function mutatingPolicyOf(object: DeepReadonly<ApiObject>): MutatingPolicy {
  const { spec = {} } = object as { readonly spec?: MutatingPolicyMembers }
  let programs: MutatingPrograms | undefined
  return {
    name: object.metadata.name ?? '',
    criteria: criteriaOf(spec.matchConstraints ?? {}),
    paramKind: spec.paramKind ?? undefined,
    failsOpen: spec.failurePolicy === 'Ignore',
    reinvocable: spec.reinvocationPolicy === 'IfNeeded',
    programs() {
      programs ??= compileMutatingPolicy(spec)
      return programs
    },
  }
}

function compileMutatingPolicy(spec: MutatingPolicyMembers): MutatingPrograms {
  const { engine, storedExpressions: stored } = cel()
  const params = spec.paramKind !== undefined && spec.paramKind !== null
  const types = new Map<string, Type>()
  const declared = (spec.variables ?? []).length === 0 ? {} : { variables: types }
  const compile = (text: string, result?: Type): ExpressionProgram => {
    const plain = engine.admissionEnvironment(stored, { params, authorizer: true, ...declared })
    const scope = result === undefined ? plain : engine.mutationEnvironment(plain)
    return { text, compiled: engine.compileExpression(scope, text, { result }) }
  }
  const variables = compileVariables(spec.variables ?? [], compile, types)
  return {
    conditions: compileConditions(spec.matchConditions ?? [], { params }),
    variables,
    mutations: (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) =>
      patchType === 'JSONPatch'
        ? { type: 'JSONPatch', source: compile(jsonPatch?.expression ?? '', engine.listOf(engine.jsonPatchOperationType)) }
        : {
            type: 'ApplyConfiguration',
            source: compile(applyConfiguration?.expression ?? '', engine.applyConfigurationType),
          },
    ),
  }
}
