import { type NamingProfile, stockProfile, type UserInfo } from '@krmkit/meta'
import { AuthenticationError } from '../authentication-error.ts'
import type { Claims } from '../jwt.ts'
import { type ClaimMapping, type ClaimMappingResult, claimOf, credentialIdExtra, groupsFromClaim } from '../oidc/claim-mapping.ts'
import type { ClaimExpression, ClaimExpressionCompiler, JwtConfiguration } from './interfaces.ts'

/** A token that cannot be mapped to a user; the message is for logs. */
class MappingError extends Error {}

/** Reads a value from claims; asynchronous for expressions that pause. */
type Reader<T> = (claims: Claims) => T | Promise<T>

/**
 * Creates the mapping of a configured issuer: user name, groups, uid and extra are computed first, then claims and user are validated.
 *
 * @throws AuthenticationError `InvalidConfiguration` for expressions that do not compile.
 */
export function createConfiguredMapping(
  jwt: JwtConfiguration,
  options: { readonly expressions: ClaimExpressionCompiler; readonly profile?: Pick<NamingProfile, 'domain'> },
): ClaimMapping {
  const { expressions, profile = stockProfile } = options
  const username = usernameOf(jwt, expressions)
  const groups = groupsOf(jwt, expressions)
  const uid = uidOf(jwt, expressions)
  const extra = jwt.claimMappings.extra.map(({ key, valueExpression }) => {
    const expression = requireCompiled(expressions.claims(valueExpression, 'value'))
    return { key, values: async (claims: Claims) => stringListOf(await evaluate(expression, claims, 'extra'), 'extra') }
  })
  const checksOfClaims = claimChecks(jwt, expressions)
  const checksOfUser = userChecks(jwt, expressions)
  return async (claims): Promise<ClaimMappingResult> => {
    try {
      const name = await username(claims)
      const userGroups = await groups(claims)
      const userUid = await uid(claims)
      const mapped: [string, readonly string[]][] = []
      for (const { key, values } of extra) mapped.push([key, await values(claims)])
      const userExtra = [...credentialIdExtra(claims, profile), ...mapped].filter(([, values]) => values.length > 0)
      const user: UserInfo = {
        username: name,
        groups: [...userGroups],
        ...(userUid === '' ? {} : { uid: userUid }),
        ...(userExtra.length === 0 ? {} : { extra: Object.fromEntries(userExtra) }),
      }
      for (const check of checksOfClaims) await check(claims)
      for (const check of checksOfUser) await check(user)
      return { ok: true, user }
    } catch (error) {
      if (error instanceof MappingError) return { ok: false, reason: error.message }
      throw error
    }
  }
}

function usernameOf({ claimMappings: { username } }: JwtConfiguration, expressions: ClaimExpressionCompiler): Reader<string> {
  const { claim, expression, prefix = '' } = username
  if (expression !== '') {
    const program = requireCompiled(expressions.claims(expression, 'value'))
    return async (claims) => {
      const name = await evaluate(program, claims, 'username')
      if (typeof name !== 'string') throw new MappingError('the expression of the user name does not return a string')
      if (name === '') throw new MappingError('the expression of the user name returns an empty string')
      return name
    }
  }
  return (claims) => {
    const name = claimOf(claims, claim)
    if (typeof name !== 'string' || name === '') throw new MappingError(`the claim ${claim} holds no user name`)
    const verified = claimOf(claims, 'email_verified')
    if (claim === 'email' && verified !== undefined && verified !== true)
      throw new MappingError('the email address is not verified')
    return `${prefix}${name}`
  }
}

function groupsOf(
  { claimMappings: { groups } }: JwtConfiguration,
  expressions: ClaimExpressionCompiler,
): Reader<readonly string[]> {
  const { claim, expression, prefix = '' } = groups
  if (expression !== '') {
    const program = requireCompiled(expressions.claims(expression, 'value'))
    return async (claims) => stringListOf(await evaluate(program, claims, 'groups'), 'groups')
  }
  if (claim === '') return () => []
  return (claims) => {
    const found = groupsFromClaim(claimOf(claims, claim))
    if (found === undefined) throw new MappingError(`the claim ${claim} is neither a string nor a list of strings`)
    return found.map((group) => `${prefix}${group}`)
  }
}

function uidOf({ claimMappings: { uid } }: JwtConfiguration, expressions: ClaimExpressionCompiler): Reader<string> {
  const program = uid.expression === '' ? undefined : requireCompiled(expressions.claims(uid.expression, 'value'))
  if (program === undefined && uid.claim === '') return () => ''
  return async (claims) => {
    const value = program === undefined ? claimOf(claims, uid.claim) : await evaluate(program, claims, 'uid')
    if (typeof value !== 'string') throw new MappingError('the uid is not a string')
    return value
  }
}

function claimChecks({ claimValidationRules }: JwtConfiguration, expressions: ClaimExpressionCompiler): Reader<void>[] {
  const required = claimValidationRules.filter(({ claim }) => claim !== '')
  const conditions = claimValidationRules.filter(({ claim }) => claim === '')
  return [
    ...required.map(({ claim, requiredValue }) => (claims: Claims) => {
      if (claimOf(claims, claim) !== requiredValue) throw new MappingError(`the claim ${claim} is not what is required`)
    }),
    ...conditions.map((rule) => checkFor(requireCompiled(expressions.claims(rule.expression, 'condition')), rule)),
  ]
}

function userChecks(
  { userValidationRules }: JwtConfiguration,
  expressions: ClaimExpressionCompiler,
): ((user: UserInfo) => Promise<void>)[] {
  return userValidationRules.map((rule) => {
    const check = checkFor(requireCompiled(expressions.user(rule.expression)), rule)
    // Expressions see every member, even when it is empty.
    return ({ username, uid = '', groups, extra = {} }) => check({ username, uid, groups, extra })
  })
}

function checkFor(
  program: ClaimExpression,
  { expression, message }: { readonly expression: string; readonly message: string },
): (subject: object) => Promise<void> {
  return async (subject) => {
    const value = await evaluate(program, subject, 'validation')
    if (typeof value !== 'boolean') throw new MappingError('the validation expression must return a boolean')
    if (!value) throw new MappingError(`validation expression '${expression}' failed: ${message}`)
  }
}

async function evaluate(program: ClaimExpression, subject: object, what: string): Promise<unknown> {
  const result = await program.evaluate(subject)
  if ('error' in result) throw new MappingError(`the ${what} expression cannot be evaluated: ${result.error}`)
  return result.value
}

/** Converts a string, a list of strings or null to a list without empty strings. */
function stringListOf(value: unknown, what: string): readonly string[] {
  if (value === null) return []
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || !list.every((each): each is string => typeof each === 'string'))
    throw new MappingError(`the ${what} expression must return a string or a list of strings`)
  return list.filter((each) => each !== '')
}

function requireCompiled(expression: ClaimExpression | { readonly problem: string }): ClaimExpression {
  if (!('problem' in expression)) return expression
  throw new AuthenticationError({ code: 'InvalidConfiguration', message: expression.problem })
}
