import { whenDone } from '@krmkit/base/work'
import { MetaError, parseLabelSelector } from '@krmkit/meta'
import { type FieldRequirement, type LabelSelectorExpression, parseFieldSelector } from '@krmkit/meta/selectors'
import { declare, type FunctionDeclaration, method } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { Pause } from '../values/pauses.ts'
import { boolType, opaqueOf, stringType } from '../values/types.ts'
import { OpaqueValue, type Value } from '../values/values.ts'
import type { Library } from './library.ts'

/** The authorizer library: `authorizer.group('').resource('pods').check('get').allowed()` */

/** An access check by an expression. */
export interface CelAccessCheck {
  /** Default: the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
  readonly verb: string
  /** Set for non-resource checks only. */
  readonly path?: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly fieldSelector?: readonly FieldRequirement[]
  readonly labelSelector?: readonly LabelSelectorExpression[]
}

/** Decision of an authorizer. */
export interface CelAccessDecision {
  readonly allowed: boolean
  readonly reason: string
  /** Error message; empty without an error. */
  readonly error: string
}

/** Decides access checks on behalf of one request. */
export type CelAuthorizer = (check: CelAccessCheck) => CelAccessDecision | Promise<CelAccessDecision>

/**
 * Thrown when a decision is pending; the expression continues once `until` resolves.
 *
 * @see {@link Program.evaluateAsync}
 */
export class PendingAuthorization extends Pause {
  declare readonly until: Promise<void>
}

/** Type of the variable `authorizer`. */
const authorizerType = opaqueOf('kubernetes.authorization.Authorizer')
const pathType = opaqueOf('kubernetes.authorization.PathCheck')
const groupType = opaqueOf('kubernetes.authorization.GroupCheck')
/** Type of the variable `authorizer.requestResource`. */
const resourceType = opaqueOf('kubernetes.authorization.ResourceCheck')
const decisionType = opaqueOf('kubernetes.authorization.Decision')

export { authorizerType, resourceType as resourceCheckType }

type CheckAttributes = Omit<CelAccessCheck, 'verb'> & { readonly errors?: readonly string[] }

/** Caches decisions by check. */
class DecisionCache {
  readonly #authorizer: CelAuthorizer
  readonly #known = new Map<string, CelAccessDecision>()

  constructor(authorizer: CelAuthorizer) {
    this.#authorizer = authorizer
  }

  get(check: CelAccessCheck): CelAccessDecision {
    const key = JSON.stringify(check)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const keep = (decision: CelAccessDecision) => void this.#known.set(key, decision)
    const pending = whenDone(this.#authorizer(check), keep)
    const decision = this.#known.get(key)
    if (decision !== undefined) return decision
    const failed = (error: unknown) => keep({ allowed: false, reason: '', error: String(error) })
    throw new PendingAuthorization(Promise.resolve(pending).catch(failed))
  }
}

class CheckValue extends OpaqueValue {
  readonly type: typeof authorizerType
  readonly part: CheckAttributes
  readonly decisions: DecisionCache

  constructor(type: typeof authorizerType, part: CheckAttributes, decisions: DecisionCache) {
    super()
    this.type = type
    this.part = part
    this.decisions = decisions
  }

  with(part: Partial<CheckAttributes>, type = this.type): CheckValue {
    return new CheckValue(type, { ...this.part, ...part }, this.decisions)
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof CheckValue && JSON.stringify(this.part) === JSON.stringify(other.part)
  }
}

class DecisionValue extends OpaqueValue {
  readonly type = decisionType
  readonly decision: CelAccessDecision

  constructor(decision: CelAccessDecision) {
    super()
    this.decision = decision
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof DecisionValue && JSON.stringify(this.decision) === JSON.stringify(other.decision)
  }
}

const noAttributes: CheckAttributes = { group: '', resource: '', subresource: '', namespace: '', name: '' }

/**
 * Value of the variable `authorizer` for one request. Caches decisions.
 *
 * @example
 * import { admissionEnvironment, authorizerValue, compileExpression, Environment } from '@krmkit/cel'
 * const authorizer = authorizerValue(({ verb }) => ({ allowed: verb === 'get', reason: '', error: '' }))
 * const options = { params: false, authorizer: true }
 * const environment = admissionEnvironment(Environment.ofRelease('1.33'), options)
 * const compiled = compileExpression(environment, "authorizer.group('').resource('pods').check('get').allowed()")
 * if ('problem' in compiled) throw new Error(compiled.problem)
 * compiled.program.evaluate({ authorizer }).value // true
 */
export function authorizerValue(authorizer: CelAuthorizer): Value {
  return new CheckValue(authorizerType, noAttributes, new DecisionCache(authorizer))
}

/**
 * Value of the variable `authorizer.requestResource`.
 *
 * @example
 * import { authorizerValue, requestResourceValue } from '@krmkit/cel'
 * const authorizer = authorizerValue(({ resource }) => ({ allowed: resource === 'pods', reason: '', error: '' }))
 * const resource = { group: '', resource: 'pods', subresource: '', namespace: 'shop', name: 'web' }
 * const variables = { authorizer, 'authorizer.requestResource': requestResourceValue(authorizer, resource) }
 * @see {@link authorizerValue}
 */
export function requestResourceValue(
  authorizer: Value,
  resource: Pick<CheckAttributes, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>,
): Value {
  return (authorizer as CheckValue).with(resource, resourceType)
}

function declareRefinement(
  name: string,
  types: readonly [from: typeof authorizerType, to: typeof authorizerType],
  part: (text: string) => Partial<CheckAttributes>,
): FunctionDeclaration {
  const [from, to] = types
  return declare(
    name,
    method(`${name}_check`, [from, stringType], to, (_: Meter, check: CheckValue, text: string) => check.with(part(text), to)),
  )
}

/** Parses the selectors of a check; an invalid selector makes the decision an error. */
function withSelector<T>(check: CheckValue, read: () => T, part: (value: T) => Partial<CheckAttributes>): CheckValue {
  try {
    return check.with(part(read()))
  } catch (error) {
    if (!(error instanceof MetaError)) throw error
    return check.with({ errors: [...(check.part.errors ?? []), error.message] })
  }
}

function checkAccess(_: Meter, check: CheckValue, verb: string): Value {
  const { errors, ...part } = check.part
  const decision = check.decisions.get({ ...part, verb })
  return new DecisionValue(
    errors === undefined ? decision : { ...decision, error: [...errors, decision.error].filter(Boolean).join(', ') },
  )
}

const functions: readonly FunctionDeclaration[] = [
  declareRefinement('path', [authorizerType, pathType], (path) => ({ path })),
  declareRefinement('group', [authorizerType, groupType], (group) => ({ group })),
  declare(
    'serviceAccount',
    method(
      'authorizer_serviceaccount',
      [authorizerType, stringType, stringType],
      authorizerType,
      (_: Meter, check: CheckValue, namespace: string, name: string) => check.with({ serviceAccount: { namespace, name } }),
    ),
  ),
  declareRefinement('resource', [groupType, resourceType], (resource) => ({ resource })),
  declareRefinement('subresource', [resourceType, resourceType], (subresource) => ({ subresource })),
  declareRefinement('namespace', [resourceType, resourceType], (namespace) => ({ namespace })),
  declareRefinement('name', [resourceType, resourceType], (name) => ({ name })),
  declare(
    'check',
    method('pathcheck_check', [pathType, stringType], decisionType, checkAccess),
    method('resourcecheck_check', [resourceType, stringType], decisionType, checkAccess),
  ),
  declare(
    'allowed',
    method('decision_allowed', [decisionType], boolType, (_: Meter, { decision }: DecisionValue) => decision.allowed),
  ),
  declare(
    'reason',
    method('decision_reason', [decisionType], stringType, (_: Meter, { decision }: DecisionValue) => decision.reason),
  ),
  declare(
    'errored',
    method('decision_errored', [decisionType], boolType, (_: Meter, { decision }: DecisionValue) => decision.error !== ''),
  ),
  declare(
    'error',
    method('decision_error', [decisionType], stringType, (_: Meter, { decision }: DecisionValue) => decision.error),
  ),
]

const types = [authorizerType, pathType, groupType, resourceType, decisionType].map((type) => [type.name, type] as const)

export const authorization: Library = { name: 'authorization', functions, types }

export const authorizationSelectors: Library = {
  name: 'authorization selectors',
  functions: [
    declare(
      'fieldSelector',
      method('authorizer_fieldselector', [resourceType, stringType], resourceType, (_: Meter, check: CheckValue, text: string) =>
        withSelector(
          check,
          () => parseFieldSelector(text),
          ({ requirements }) => ({ fieldSelector: requirements }),
        ),
      ),
    ),
    declare(
      'labelSelector',
      method('authorizer_labelselector', [resourceType, stringType], resourceType, (_: Meter, check: CheckValue, text: string) =>
        withSelector(
          check,
          () => parseLabelSelector(text),
          ({ requirements }) => ({
            labelSelector: requirements.map(({ key, operator, values }) => labelSelectorExpression(key, operator, [...values])),
          }),
        ),
      ),
    ),
  ],
}

function labelSelectorExpression(key: string, operator: string, values: readonly string[]): LabelSelectorExpression {
  const names: Readonly<Record<string, string>> = {
    in: 'In',
    '=': 'In',
    '==': 'In',
    notin: 'NotIn',
    '!=': 'NotIn',
    exists: 'Exists',
    '!': 'DoesNotExist',
  }
  return {
    key,
    operator: names[operator] ?? operator,
    ...(values.length === 0 ? {} : { values: [...values] }),
  } as LabelSelectorExpression
}
