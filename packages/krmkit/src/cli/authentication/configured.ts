import {
  type AnonymousConfiguration,
  type AuthenticationConfiguration,
  type ClaimExpressionCompiler,
  createCachedTokenAuthenticator,
  createJwtAuthenticator,
  createReplaceableTokenAuthenticator,
  createTokenAuthenticatorChain,
  isJwtShaped,
  parseAuthenticationConfiguration,
  type TokenAuthenticator,
  validateAuthenticationConfiguration,
} from '@krmkit/authentication'
import { type Clock, type FieldError, field, formatFieldErrors, type NamingProfile, Path, type Random } from '@krmkit/meta'
import { claimExpressions } from '../../expressions/claim-expressions.ts'
import { followConfiguration, parsedConfiguration } from '../configuration-file.ts'
import { type RemoteFetch, remoteFetch } from './remote-fetch.ts'

/** Issuers as a file says, which may change while the server runs. */
export interface ConfiguredAuthentication extends AsyncDisposable {
  readonly tokens: TokenAuthenticator
  /** Absent: the file says nothing of callers without credentials. */
  readonly anonymous: AnonymousConfiguration | undefined
}

export interface ConfiguredEnvironment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  /** Issuers of service account tokens. */
  readonly ownIssuers: readonly string[]
  readonly onError: (error: unknown) => void
  readonly onReload?: (flag: string) => void
}

interface Generation extends AsyncDisposable {
  readonly tokens: TokenAuthenticator
  /** Asks every issuer for its keys; false when one of them does not tell. */
  prepare(): Promise<boolean>
}

const flag = 'authentication-config'
const cacheMs = 10_000

/** @throws CliError for a file that cannot be used. */
export async function configuredAuthentication(
  path: string,
  environment: ConfiguredEnvironment,
): Promise<ConfiguredAuthentication> {
  const expressions = await claimExpressions()
  let initial: AuthenticationConfiguration | undefined
  let put: (next: AuthenticationConfiguration) => Promise<void> = () => Promise.resolve()
  const file = await followConfiguration(path, {
    ...environment,
    flag,
    onApplied: () => environment.onReload?.(flag),
    read: (text) => judged(text, { ...environment, expressions, initial }),
    apply: (next) => put(next),
    tryAgain: true,
  })
  initial = file.first
  let current = generationOf(initial, { ...environment, expressions })
  let former: Generation | undefined
  // Issuers that live behind this very server cannot be asked yet.
  void current.prepare()
  const tokens = createReplaceableTokenAuthenticator(current.tokens)
  put = async (configuration) => {
    const next = generationOf(configuration, { ...environment, expressions })
    if (!(await next.prepare())) {
      await next[Symbol.asyncDispose]()
      throw new Error('an issuer cannot be asked; the former configuration stays in force')
    }
    tokens.replace(next.tokens)
    await former?.[Symbol.asyncDispose]()
    former = current
    current = next
  }
  return {
    tokens,
    anonymous: initial.anonymous,
    async [Symbol.asyncDispose]() {
      file[Symbol.dispose]()
      await former?.[Symbol.asyncDispose]()
      await current[Symbol.asyncDispose]()
    },
  }
}

/** @throws Error with everything that is wrong. */
function judged(
  text: string,
  options: {
    readonly expressions: ClaimExpressionCompiler
    readonly profile: Pick<NamingProfile, 'apiDomain'>
    readonly ownIssuers: readonly string[]
    /** What was there at the start; absent at the start. */
    readonly initial: AuthenticationConfiguration | undefined
  },
): AuthenticationConfiguration {
  if (text === '') throw new Error('empty config data')
  const { expressions, profile, ownIssuers, initial } = options
  const { value, repeated } = parsedConfiguration(text)
  const configuration = parseAuthenticationConfiguration(value, { repeated, apiDomain: profile.apiDomain })
  const errors: FieldError[] = validateAuthenticationConfiguration(configuration, { expressions, disallowedIssuers: ownIssuers })
  if (initial !== undefined && JSON.stringify(initial.anonymous) !== JSON.stringify(configuration.anonymous))
    errors.push(field.forbidden(Path.of('anonymous'), 'changed from initial configuration file'))
  if (errors.length > 0) throw new Error(formatFieldErrors(errors))
  return configuration
}

function generationOf(
  { jwt }: AuthenticationConfiguration,
  environment: ConfiguredEnvironment & { readonly expressions: ClaimExpressionCompiler },
): Generation {
  const { clock, random } = environment
  const remotes: RemoteFetch[] = []
  const issuers = jwt.map((each) => {
    const { certificateAuthority } = each.issuer
    const remote = remoteFetch(certificateAuthority === '' ? {} : { ca: certificateAuthority })
    remotes.push(remote)
    return createJwtAuthenticator(each, { ...environment, fetch: remote.fetch })
  })
  const cache = { clock, random, successMs: cacheMs, failureMs: 0, accepts: isJwtShaped }
  return {
    tokens: createCachedTokenAuthenticator(createTokenAuthenticatorChain(issuers), cache),
    prepare: async () => (await Promise.all(issuers.map((issuer) => issuer.prepare()))).every((isKnown) => isKnown),
    async [Symbol.asyncDispose]() {
      await Promise.all(remotes.map((remote) => remote[Symbol.asyncDispose]()))
    },
  }
}
