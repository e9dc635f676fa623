import { whenDone } from '@krmkit/base/work'
import { invalidArgument, requireUser } from './arguments.ts'
import type { Attributes, Authorizer, Decision, SubjectRules } from './interfaces.ts'

/**
 * Consults authorizers in order; the first `allow` or `deny` is final. Synchronous if the members are.
 *
 * Without a decision, reasons and errors of all members are joined, one per line. Rules of all members are listed together.
 *
 * @param names of the members, which their reasons begin with, as from 1.37 on: `node: no relationship found`. Absent: reasons are
 * unnamed.
 *
 * @example
 * ```ts
 * import { createPrivilegedGroupsAuthorizer, createRbacAuthorizer, createUnionAuthorizer } from '@krmkit/authorization'
 *
 * const { authorize } = createUnionAuthorizer([createPrivilegedGroupsAuthorizer(['admins']), createRbacAuthorizer()])
 * const names = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'shop', name: 'web' }
 * const request = { ...names, verb: 'delete', isResource: true, path: '' }
 * await authorize({ ...request, user: { username: 'jane', groups: ['admins'] } }) // decision: 'allow'
 * await authorize({ ...request, user: { username: 'joe', groups: [] } }) // decision: 'noOpinion'
 * ```
 */
export function createUnionAuthorizer(authorizers: readonly Authorizer[], names?: readonly string[]): Authorizer {
  if (!Array.isArray(authorizers) || !authorizers.every((each) => typeof each?.authorize === 'function'))
    throw invalidArgument('createUnionAuthorizer needs a list of authorizers')
  return {
    authorize(attributes) {
      requireUser(attributes)
      return authorizeFrom({ authorizers, names, attributes }, 0, noOpinion)
    },
    async rulesFor(user, namespace) {
      const rules: SubjectRules[] = []
      for (const authorizer of authorizers) {
        const some = await authorizer.rulesFor?.(user, namespace)
        if (some !== undefined) rules.push(some)
      }
      return {
        resourceRules: rules.flatMap(({ resourceRules }) => resourceRules),
        nonResourceRules: rules.flatMap(({ nonResourceRules }) => nonResourceRules),
        incomplete: rules.some(({ incomplete }) => incomplete),
        errors: rules.flatMap(({ errors }) => errors),
      }
    },
  }
}

const noOpinion: Decision = Object.freeze({ decision: 'noOpinion', reason: '' })

interface Consultation {
  readonly authorizers: readonly Authorizer[]
  readonly names: readonly string[] | undefined
  readonly attributes: Attributes
}

function authorizeFrom(consultation: Consultation, first: number, before: Decision): Decision | Promise<Decision> {
  const { authorizers, names, attributes } = consultation
  const authorizer = authorizers[first]
  if (authorizer === undefined) return before
  return whenDone(authorizer.authorize(attributes), (decision) =>
    decision.decision === 'noOpinion'
      ? authorizeFrom(consultation, first + 1, combine(before, named(decision, names?.[first])))
      : decision,
  )
}

function named(decision: Decision, name: string | undefined): Decision {
  return name === undefined || decision.reason === '' ? decision : { ...decision, reason: `${name}: ${decision.reason}` }
}

function combine(a: Decision, b: Decision): Decision {
  if (b.reason === '' && b.error === undefined) return a
  if (a.reason === '' && a.error === undefined) return b
  const error = [a.error, b.error].filter((text) => text !== undefined).join('\n')
  const reason = [a.reason, b.reason].filter((text) => text !== '').join('\n')
  return { decision: 'noOpinion', reason, ...(error === '' ? {} : { error }) }
}
