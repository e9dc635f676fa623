import type { Attributes, Authorizer, Decision, SubjectRules } from './interfaces.ts'

/**
 * The first authorizer with an opinion decides. Answers at once while those who are asked do.
 *
 * Without an opinion all reasons are told, a line each, and so are errors. Rights are listed together.
 */
export function createUnionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize: (attributes) => authorizeFrom(authorizers, attributes, 0, silent),
    async rulesFor(user, namespace) {
      const answers: SubjectRules[] = []
      for (const authorizer of authorizers) {
        const answer = await authorizer.rulesFor?.(user, namespace)
        if (answer !== undefined) answers.push(answer)
      }
      return {
        resourceRules: answers.flatMap(({ resourceRules }) => resourceRules),
        nonResourceRules: answers.flatMap(({ nonResourceRules }) => nonResourceRules),
        incomplete: answers.some(({ incomplete }) => incomplete),
        errors: answers.flatMap(({ errors }) => errors),
      }
    },
  }
}

const silent: Decision = Object.freeze({ decision: 'noOpinion', reason: '' })

function authorizeFrom(
  authorizers: readonly Authorizer[],
  attributes: Attributes,
  first: number,
  before: Decision,
): Decision | Promise<Decision> {
  let heard = before
  for (let i = first; i < authorizers.length; i++) {
    const decision = authorizers[i]!.authorize(attributes)
    if (decision instanceof Promise) {
      const sofar = heard
      return decision.then((late) =>
        late.decision === 'noOpinion' ? authorizeFrom(authorizers, attributes, i + 1, combine(sofar, late)) : late,
      )
    }
    if (decision.decision !== 'noOpinion') return decision
    heard = combine(heard, decision)
  }
  return heard
}

function combine(a: Decision, b: Decision): Decision {
  if (b.reason === '' && b.error === undefined) return a
  if (a.reason === '' && a.error === undefined) return b
  const error = [a.error, b.error].filter((text) => text !== undefined).join('\n')
  const reason = [a.reason, b.reason].filter((text) => text !== '').join('\n')
  return { decision: 'noOpinion', reason, ...(error === '' ? {} : { error }) }
}
