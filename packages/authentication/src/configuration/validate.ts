import { type FieldError, field, Path } from '@krmkit/meta'
import { goQuote, goText } from '@krmkit/meta/go-text'
import { validateDomainPrefixedPath } from '@krmkit/meta/names'
import { parseAuthorities } from '../x509/certificate-chain.ts'
import type {
  AuthenticationConfiguration,
  ClaimExpression,
  ClaimExpressionCompiler,
  JwtConfiguration,
  PrefixedSource,
} from './interfaces.ts'

export interface AuthenticationValidationOptions {
  readonly expressions: ClaimExpressionCompiler
  /** Issuers of service account tokens, which JWT authenticators must not claim. */
  readonly disallowedIssuers?: readonly string[]
}

const maxIssuers = 64
const reservedDomains = ['kubernetes.io', 'k8s.io']

/**
 * Validates a configuration.
 *
 * @returns the errors in the wording of kube-apiserver; empty when the configuration is valid.
 * @example
 * ```ts
 * import { validateAuthenticationConfiguration } from '@krmkit/authentication/configuration'
 *
 * const problem = () => ({ problem: 'expressions are not supported' })
 * const configuration = { jwt: [], anonymous: { enabled: false, paths: ['/healthz'] } }
 * const errors = validateAuthenticationConfiguration(configuration, { expressions: { claims: problem, user: problem } })
 * errors.map(({ field }) => field) // ['anonymous.conditions']
 * ```
 */
export function validateAuthenticationConfiguration(
  { jwt, anonymous }: AuthenticationConfiguration,
  rules: AuthenticationValidationOptions,
): FieldError[] {
  const root = Path.of('jwt')
  if (jwt.length > maxIssuers) return [field.tooMany(root, jwt.length, maxIssuers)]
  const urls = new Set<string>()
  const discoveryURLs = new Set<string>()
  const errors = jwt.flatMap((each, i) => {
    const path = root.index(i)
    const { url, discoveryURL } = each.issuer
    const found = jwtErrors(each, path, rules)
    if (urls.has(url)) found.push(field.duplicate(path.child('issuer').child('url'), url))
    urls.add(url)
    if (discoveryURL !== '' && discoveryURLs.has(discoveryURL))
      found.push(field.duplicate(path.child('issuer').child('discoveryURL'), discoveryURL))
    discoveryURLs.add(discoveryURL)
    return found
  })
  if (anonymous !== undefined && !anonymous.enabled && anonymous.paths.length > 0) {
    const type = 'apiserver.AnonymousAuthCondition'
    const printed = anonymous.paths.map((path) => `${type}{Path:${goQuote(path)}}`).join(', ')
    const conditions = goText(`[]${type}{${printed}}`)
    const path = Path.of('anonymous').child('conditions')
    errors.push(field.invalid(path, conditions, 'enabled should be set to true when conditions are defined'))
  }
  return errors
}

/** Claims that the expressions of one issuer read. */
interface ReadClaims {
  email: boolean
  emailVerified: boolean
}

function jwtErrors(jwt: JwtConfiguration, path: Path, rules: AuthenticationValidationOptions): FieldError[] {
  const { expressions } = rules
  const seen: ReadClaims = { email: false, emailVerified: false }
  return [
    ...issuerErrors(jwt, path.child('issuer'), rules.disallowedIssuers ?? []),
    ...ruleErrors(jwt, path.child('claimValidationRules'), { expressions, seen }),
    ...mappingErrors(jwt, path.child('claimMappings'), { expressions, seen }),
    ...userErrors(jwt, path.child('userValidationRules'), expressions),
  ]
}

function issuerErrors({ issuer }: JwtConfiguration, path: Path, disallowed: readonly string[]): FieldError[] {
  const { url, discoveryURL, audiences, audienceMatchPolicy, certificateAuthority } = issuer
  const errors: FieldError[] = []
  if (url === '') errors.push(field.required(path.child('url'), 'URL is required'))
  else errors.push(...urlErrors(url, path.child('url'), disallowed))
  if (discoveryURL !== '') {
    const place = path.child('discoveryURL')
    if (url !== '' && withoutSlashes(url) === withoutSlashes(discoveryURL))
      errors.push(field.invalid(place, discoveryURL, 'discoveryURL must be different from URL'))
    errors.push(...urlErrors(discoveryURL, place, []))
  }
  errors.push(...audienceErrors(audiences, path.child('audiences')))
  const place = path.child('audienceMatchPolicy')
  if (audiences.length > 1 && audienceMatchPolicy !== 'MatchAny')
    errors.push(field.invalid(place, audienceMatchPolicy, 'audienceMatchPolicy must be MatchAny for multiple audiences'))
  if (audiences.length === 1 && audienceMatchPolicy !== '' && audienceMatchPolicy !== 'MatchAny')
    errors.push(field.invalid(place, audienceMatchPolicy, 'audienceMatchPolicy must be empty or MatchAny for single audience'))
  if (certificateAuthority !== '' && !isBundle(certificateAuthority)) {
    const detail = 'data does not contain any valid RSA or ECDSA certificates'
    errors.push(field.invalid(path.child('certificateAuthority'), '<omitted>', detail))
  }
  return errors
}

function withoutSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}

function urlErrors(text: string, path: Path, disallowed: readonly string[]): FieldError[] {
  const errors: FieldError[] = []
  const wrong = (detail: string) => errors.push(field.invalid(path, text, detail))
  if (disallowed.includes(text)) wrong(`URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`)
  if (!URL.canParse(text)) {
    // Like kube-apiserver, parses text without a scheme as a path, and reports the missing scheme.
    wrong(/^[a-z][a-z0-9+.-]*:/i.test(text) ? 'URL cannot be read' : 'URL scheme must be https')
    return errors
  }
  const { protocol, username, password, search, hash } = new URL(text)
  if (protocol !== 'https:') wrong('URL scheme must be https')
  if (username !== '' || password !== '') wrong('URL must not contain a username or password')
  if (search !== '') wrong('URL must not contain a query')
  if (hash !== '') wrong('URL must not contain a fragment')
  return errors
}

function audienceErrors(audiences: readonly string[], path: Path): FieldError[] {
  if (audiences.length === 0) return [field.required(path, `at least one ${path} is required`)]
  return audiences.flatMap((audience, i) => {
    const found = audience === '' ? [field.required(path.index(i), "audience can't be empty")] : []
    if (audiences.indexOf(audience) < i) found.push(field.duplicate(path.index(i), audience))
    return found
  })
}

interface CompileContext {
  readonly expressions: ClaimExpressionCompiler
  readonly seen: ReadClaims
}

function ruleErrors(
  { claimValidationRules: rules }: JwtConfiguration,
  root: Path,
  { expressions, seen }: CompileContext,
): FieldError[] {
  const claims = new Set<string>()
  const texts = new Set<string>()
  return rules.flatMap(({ claim, requiredValue, expression, message }, i): FieldError[] => {
    const path = root.index(i)
    if (claim !== '' && expression !== '') return [field.invalid(path, claim, "claim and expression can't both be set")]
    if (claim === '' && expression === '') return [field.required(path, 'claim or expression is required')]
    if (claim !== '') {
      const errors =
        message === '' ? [] : [field.invalid(path.child('message'), message, "message can't be set when claim is set")]
      if (claims.has(claim)) errors.push(field.duplicate(path.child('claim'), claim))
      claims.add(claim)
      return errors
    }
    const place = path.child('requiredValue')
    const errors =
      requiredValue === '' ? [] : [field.invalid(place, requiredValue, "requiredValue can't be set when expression is set")]
    if (texts.has(expression)) return [...errors, field.duplicate(path.child('expression'), expression)]
    texts.add(expression)
    const compiled = expressions.claims(expression, 'condition')
    if (!('problem' in compiled)) noteEmailVerified(compiled, seen)
    return [...errors, ...problemOf(compiled, path.child('expression'), expression)]
  })
}

function mappingErrors({ claimMappings }: JwtConfiguration, path: Path, { expressions, seen }: CompileContext): FieldError[] {
  const { username, groups, uid, extra } = claimMappings
  const errors: FieldError[] = []
  const compile = (text: string, place: Path): ClaimExpression | undefined => {
    const compiled = expressions.claims(text, 'value')
    errors.push(...problemOf(compiled, place, text))
    return 'problem' in compiled ? undefined : compiled
  }
  for (const [name, source] of [['username', username] as const, ['groups', groups] as const]) {
    const place = path.child(name)
    errors.push(...sourceErrors(source, place, { required: name === 'username' }))
    const compiled =
      source.expression !== '' && source.claim === '' ? compile(source.expression, place.child('expression')) : undefined
    if (compiled === undefined || name !== 'username') continue
    seen.email ||= compiled.reads('email')
    noteEmailVerified(compiled, seen)
  }
  if (uid.claim !== '' && uid.expression !== '')
    errors.push(field.invalid(path.child('uid'), '', "claim and expression can't both be set"))
  else if (uid.expression !== '') compile(uid.expression, path.child('uid').child('expression'))
  const keys = new Set<string>()
  for (const [i, { key, valueExpression }] of extra.entries()) {
    const place = path.child('extra').index(i)
    errors.push(...keyErrors(key, place.child('key')))
    if (keys.has(key)) {
      errors.push(field.duplicate(place.child('key'), key))
      continue
    }
    keys.add(key)
    const valuePlace = place.child('valueExpression')
    if (valueExpression === '') errors.push(field.required(valuePlace, 'valueExpression is required'))
    else noteEmailVerified(compile(valueExpression, valuePlace), seen)
  }
  if (seen.email && !seen.emailVerified) {
    const detail =
      'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression'
    errors.push(field.invalid(path.child('username').child('expression'), username.expression, detail))
  }
  return errors
}

function sourceErrors(source: PrefixedSource, path: Path, { required }: { readonly required: boolean }): FieldError[] {
  const { claim, expression, prefix } = source
  if (claim !== '' && expression !== '') return [field.invalid(path, '', "claim and expression can't both be set")]
  if (claim === '' && expression === '') return required ? [field.required(path, 'claim or expression is required')] : []
  if (expression !== '')
    return prefix === undefined ? [] : [field.invalid(path.child('prefix'), prefix, "prefix can't be set when expression is set")]
  const detail = 'prefix is required when claim is set. It can be set to an empty string to disable prefixing'
  return prefix === undefined ? [field.required(path.child('prefix'), detail)] : []
}

function keyErrors(key: string, path: Path): FieldError[] {
  const errors = validateDomainPrefixedPath(path, key)
  if (key !== key.toLowerCase()) errors.push(field.invalid(path, key, 'key must be lowercase'))
  const domain = key.includes('/') ? (key.split('/')[0] ?? '') : ''
  if (reservedDomains.some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`)))
    errors.push(field.invalid(path, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'))
  return errors
}

function userErrors({ userValidationRules }: JwtConfiguration, root: Path, expressions: ClaimExpressionCompiler): FieldError[] {
  const texts = new Set<string>()
  return userValidationRules.flatMap(({ expression }, i) => {
    const path = root.index(i).child('expression')
    if (expression === '') return [field.required(path, 'expression is required')]
    if (texts.has(expression)) return [field.duplicate(path, expression)]
    texts.add(expression)
    return problemOf(expressions.user(expression), path, expression)
  })
}

function noteEmailVerified(compiled: ClaimExpression | undefined, seen: ReadClaims): void {
  seen.emailVerified ||= compiled?.reads('email_verified') === true
}

function problemOf(compiled: ClaimExpression | { readonly problem: string }, path: Path, text: string): FieldError[] {
  return 'problem' in compiled ? [field.invalid(path, text, compiled.problem)] : []
}

function isBundle(pem: string): boolean {
  try {
    return parseAuthorities(pem).length > 0
  } catch {
    return false
  }
}
