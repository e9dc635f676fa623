import type { Environment } from './environment.ts'
import { authorizerType, resourceCheckType } from './libraries/authorization.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  type ObjectType,
  stringType,
  structOf,
  type Type,
  timestampType,
  uintType,
} from './values/types.ts'

/** Variables of admission expressions: policies and webhook match conditions. */

export interface AdmissionVariableOptions {
  /** Whether the policy has parameters. */
  readonly params: boolean
  /** Whether the authorizer is available. */
  readonly authorizer: boolean
  /** Types of the policy's variables in declaration order; absent when it has none. */
  readonly variables?: ReadonlyMap<string, Type>
  /** Type of `object` and `oldObject`; dynamic by default. */
  readonly object?: Type
  /** Type of `params`; dynamic by default. */
  readonly paramType?: Type
}

/**
 * Declares the variables of admission expressions.
 *
 * @example
 * import { admissionEnvironment, compileExpression, Environment } from '@krmkit/cel'
 * import { fromJson } from '@krmkit/cel/values'
 * const environment = admissionEnvironment(Environment.ofRelease('1.33'), { params: true, authorizer: false })
 * const compiled = compileExpression(environment, 'object.spec.replicas <= params.max', { kinds: ['bool'] })
 * if ('problem' in compiled) throw new Error(compiled.problem)
 * const [object, params] = [fromJson({ spec: { replicas: 5 } }), fromJson({ max: 3 })]
 * compiled.program.evaluate({ object, params }).value // false
 */
export function admissionEnvironment(
  base: Environment,
  { params, authorizer, variables, object = dynType, paramType }: AdmissionVariableOptions,
): Environment {
  return base.with([
    ['object', object],
    ['oldObject', object],
    ['namespaceObject', namespaceType],
    ['request', requestType],
    ...(params ? [['params', paramType ?? dynType] as const] : []),
    ...(authorizer ? [['authorizer', authorizerType] as const, ['authorizer.requestResource', resourceCheckType] as const] : []),
    ...(variables === undefined ? [] : [['variables', structOf('kubernetes.variables', variables)] as const]),
  ])
}

/**
 * Type of a variable as later expressions see it: dynamic unless it is a plain value, a list or a map.
 *
 * @example
 * import { admissionEnvironment, Environment, variableType } from '@krmkit/cel'
 * import { listOf, stringType } from '@krmkit/cel/types'
 * const variables = new Map([['names', variableType(listOf(stringType))]])
 * const options = { params: false, authorizer: false, variables }
 * const environment = admissionEnvironment(Environment.ofRelease('1.33'), options)
 * 'problem' in environment.compile('variables.names.size() > 0') // false
 * @see {@link admissionEnvironment}
 */
export function variableType(type: Type): Type {
  if (type.kind === 'list') return listOf(variableType(type.elem))
  if (type.kind === 'map') return mapOf(variableType(type.key), variableType(type.value))
  return plain.find(({ kind }) => kind === type.kind) ?? dynType
}

const plain = [boolType, bytesType, doubleType, durationType, intType, nullType, stringType, timestampType, uintType]

function struct(name: string, fields: Readonly<Record<string, Type>>): ObjectType {
  return structOf(`kubernetes.${name}`, new Map(Object.entries(fields)))
}

const texts = listOf(stringType)
const textMap = mapOf(stringType, stringType)

const kindType = struct('GroupVersionKind', { group: stringType, version: stringType, kind: stringType })
const resourceType = struct('GroupVersionResource', { group: stringType, version: stringType, resource: stringType })

const requestType = struct('AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: stringType,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: struct('UserInfo', { username: stringType, uid: stringType, groups: texts, extra: mapOf(stringType, texts) }),
  dryRun: boolType,
  options: dynType,
})

const namespaceType = struct('Namespace', {
  metadata: struct('NamespaceMetadata', {
    name: stringType,
    generateName: stringType,
    namespace: stringType,
    labels: textMap,
    annotations: textMap,
    UID: stringType,
    creationTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    deletionTimestamp: timestampType,
    generation: intType,
    resourceVersion: stringType,
    finalizers: texts,
  }),
  spec: struct('NamespaceSpec', { finalizers: texts }),
  status: struct('NamespaceStatus', {
    conditions: listOf(
      struct('NamespaceCondition', {
        status: stringType,
        type: stringType,
        lastTransitionTime: timestampType,
        message: stringType,
        reason: stringType,
      }),
    ),
    phase: stringType,
  }),
})
