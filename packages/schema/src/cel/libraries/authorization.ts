import {
  type FieldRequirement,
  type LabelSelectorExpression,
  MetaError,
  parseFieldSelector,
  parseLabelSelector,
} from '@krmkit/meta'
import { declare, type FunctionDeclaration, method } from '../declarations.ts'
import type { Meter } from '../meter.ts'
import { boolType, opaqueOf, stringType } from '../types.ts'
import { OpaqueValue, type Value } from '../values.ts'
import type { Library } from './library.ts'

/** The authorizer library: `authorizer.group('').resource('pods').check('get').allowed()` */

/** An access check by an expression. */
export interface AuthorizationQuestion {
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

export interface AuthorizationAnswer {
  readonly allowed: boolean
  readonly reason: string
  /** Error message; empty without an error. */
  readonly error: string
}

/** Decides access checks on behalf of one request. */
export type Ask = (question: AuthorizationQuestion) => AuthorizationAnswer | Promise<AuthorizationAnswer>

/** Thrown when a decision is pending; the expression is evaluated again once `until` resolves. */
export class Waiting {
  readonly until: Promise<void>
  constructor(until: Promise<void>) {
    this.until = until
  }
}

const authorizerType = opaqueOf('kubernetes.authorization.Authorizer')
const pathType = opaqueOf('kubernetes.authorization.PathCheck')
const groupType = opaqueOf('kubernetes.authorization.GroupCheck')
const resourceType = opaqueOf('kubernetes.authorization.ResourceCheck')
const decisionType = opaqueOf('kubernetes.authorization.Decision')

export { authorizerType, resourceType as resourceCheckType }

type Part = Omit<AuthorizationQuestion, 'verb'> & { readonly errors?: readonly string[] }

/** Cache of decisions by check. */
class Answers {
  readonly #ask: Ask
  readonly #known = new Map<string, AuthorizationAnswer>()

  constructor(ask: Ask) {
    this.#ask = ask
  }

  get(question: AuthorizationQuestion): AuthorizationAnswer {
    const key = JSON.stringify(question)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const answer = this.#ask(question)
    if (answer instanceof Promise) {
      throw new Waiting(
        answer.then(
          (given) => void this.#known.set(key, given),
          (error: unknown) => void this.#known.set(key, { allowed: false, reason: '', error: String(error) }),
        ),
      )
    }
    this.#known.set(key, answer)
    return answer
  }
}

class Check extends OpaqueValue {
  readonly type: typeof authorizerType
  readonly part: Part
  readonly answers: Answers

  constructor(type: typeof authorizerType, part: Part, answers: Answers) {
    super()
    this.type = type
    this.part = part
    this.answers = answers
  }

  with(part: Partial<Part>, type = this.type): Check {
    return new Check(type, { ...this.part, ...part }, this.answers)
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Check && JSON.stringify(this.part) === JSON.stringify(other.part)
  }
}

class Decided extends OpaqueValue {
  readonly type = decisionType
  readonly answer: AuthorizationAnswer

  constructor(answer: AuthorizationAnswer) {
    super()
    this.answer = answer
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Decided && JSON.stringify(this.answer) === JSON.stringify(other.answer)
  }
}

const anything: Part = { group: '', resource: '', subresource: '', namespace: '', name: '' }

/** Value of the variable `authorizer` for one request. Caches decisions. */
export function authorizerValue(ask: Ask): Value {
  return new Check(authorizerType, anything, new Answers(ask))
}

/** Value of the variable `authorizer.requestResource`. */
export function requestResourceValue(
  authorizer: Value,
  resource: Pick<Part, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>,
): Value {
  return (authorizer as Check).with(resource, resourceType)
}

function refine(
  name: string,
  types: readonly [from: typeof authorizerType, to: typeof authorizerType],
  part: (text: string) => Partial<Part>,
): FunctionDeclaration {
  const [from, to] = types
  return declare(
    name,
    method(`${name}_check`, [from, stringType], to, (_: Meter, check: Check, text: string) => check.with(part(text), to)),
  )
}

/** An invalid selector makes the decision an error. */
function withSelector<T>(check: Check, read: () => T, part: (value: T) => Partial<Part>): Check {
  try {
    return check.with(part(read()))
  } catch (error) {
    if (!(error instanceof MetaError)) throw error
    return check.with({ errors: [...(check.part.errors ?? []), error.message] })
  }
}

function decide(_: Meter, check: Check, verb: string): Value {
  const { errors, ...part } = check.part
  const answer = check.answers.get({ ...part, verb })
  return new Decided(errors === undefined ? answer : { ...answer, error: [...errors, answer.error].filter(Boolean).join(', ') })
}

const functions: readonly FunctionDeclaration[] = [
  refine('path', [authorizerType, pathType], (path) => ({ path })),
  refine('group', [authorizerType, groupType], (group) => ({ group })),
  declare(
    'serviceAccount',
    method(
      'authorizer_serviceaccount',
      [authorizerType, stringType, stringType],
      authorizerType,
      (_: Meter, check: Check, namespace: string, name: string) => check.with({ serviceAccount: { namespace, name } }),
    ),
  ),
  refine('resource', [groupType, resourceType], (resource) => ({ resource })),
  refine('subresource', [resourceType, resourceType], (subresource) => ({ subresource })),
  refine('namespace', [resourceType, resourceType], (namespace) => ({ namespace })),
  refine('name', [resourceType, resourceType], (name) => ({ name })),
  declare(
    'check',
    method('pathcheck_check', [pathType, stringType], decisionType, decide),
    method('resourcecheck_check', [resourceType, stringType], decisionType, decide),
  ),
  declare(
    'allowed',
    method('decision_allowed', [decisionType], boolType, (_: Meter, { answer }: Decided) => answer.allowed),
  ),
  declare(
    'reason',
    method('decision_reason', [decisionType], stringType, (_: Meter, { answer }: Decided) => answer.reason),
  ),
  declare(
    'errored',
    method('decision_errored', [decisionType], boolType, (_: Meter, { answer }: Decided) => answer.error !== ''),
  ),
  declare(
    'error',
    method('decision_error', [decisionType], stringType, (_: Meter, { answer }: Decided) => answer.error),
  ),
]

const types = [authorizerType, pathType, groupType, resourceType, decisionType].map((type) => [type.name, type] as const)

export const authorization: Library = { name: 'authorization', functions, types }

export const authorizationSelectors: Library = {
  name: 'authorization selectors',
  functions: [
    declare(
      'fieldSelector',
      method('authorizer_fieldselector', [resourceType, stringType], resourceType, (_: Meter, check: Check, text: string) =>
        withSelector(
          check,
          () => parseFieldSelector(text),
          ({ requirements }) => ({ fieldSelector: requirements }),
        ),
      ),
    ),
    declare(
      'labelSelector',
      method('authorizer_labelselector', [resourceType, stringType], resourceType, (_: Meter, check: Check, text: string) =>
        withSelector(
          check,
          () => parseLabelSelector(text),
          ({ requirements }) => ({
            labelSelector: requirements.map(({ key, operator, values }) => expression(key, operator, [...values])),
          }),
        ),
      ),
    ),
  ],
}

function expression(key: string, operator: string, values: readonly string[]): LabelSelectorExpression {
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
