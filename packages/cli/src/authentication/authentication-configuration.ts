import {
  createCachedTokenAuthenticator,
  createTokenAuthenticatorChain,
  isJwtShaped,
  type TokenAuthenticator,
} from '@krmkit/authentication'
import {
  type AnonymousConfiguration,
  type AuthenticationConfiguration,
  type ClaimExpressionCompiler,
  createJwtAuthenticator,
  createReplaceableTokenAuthenticator,
  parseAuthenticationConfiguration,
  validateAuthenticationConfiguration,
} from '@krmkit/authentication/configuration'
import { type Clock, type FieldError, field, type NamingProfile, Path, type Random } from '@krmkit/meta'
import { formatFieldErrors } from '@krmkit/meta/validation'
import { claimExpressions } from 'krmkit'
import { createRemoteFetch, type RemoteFetch } from '../remote-fetch.ts'
import { parseConfigurationText, watchConfiguration } from '../watched-configuration.ts'

/** The JWT issuers of an AuthenticationConfiguration, reloaded when the file changes. */
export interface ConfiguredAuthentication extends AsyncDisposable {
  readonly tokens: TokenAuthenticator
  /** Undefined when the file does not configure anonymous requests. */
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

interface IssuerSet extends AsyncDisposable {
  readonly tokens: TokenAuthenticator
  /** Fetches the keys of every issuer; false when a fetch fails. */
  prepare(): Promise<boolean>
}

const flag = 'authentication-config'
const cacheMs = 10_000

/** Reads and watches the file. @throws CliError for an invalid file. */
export async function createConfiguredAuthentication(
  path: string,
  environment: ConfiguredEnvironment,
): Promise<ConfiguredAuthentication> {
  const expressions = await claimExpressions()
  let initial: AuthenticationConfiguration | undefined
  let put: (next: AuthenticationConfiguration) => Promise<void> = () => Promise.resolve()
  const file = await watchConfiguration(path, {
    ...environment,
    flag,
    onApplied: () => environment.onReload?.(flag),
    read: (text) => parseConfiguration(text, { ...environment, expressions, initial }),
    apply: (next) => put(next),
    retryApply: true,
  })
  initial = file.first
  let current = createIssuerSet(initial, { ...environment, expressions })
  let former: IssuerSet | undefined
  // Not awaited: an issuer may be served by this server, which does not listen yet.
  void current.prepare()
  const tokens = createReplaceableTokenAuthenticator(current.tokens)
  put = async (configuration) => {
    const next = createIssuerSet(configuration, { ...environment, expressions })
    if (!(await next.prepare())) {
      await next[Symbol.asyncDispose]()
      throw new Error('an issuer is unreachable; the previous configuration stays in effect')
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

/** @throws Error with all problems in the message. */
function parseConfiguration(
  text: string,
  options: {
    readonly expressions: ClaimExpressionCompiler
    readonly profile: Pick<NamingProfile, 'apiDomain'>
    readonly ownIssuers: readonly string[]
    /** The configuration at the start; undefined for the first parse. */
    readonly initial: AuthenticationConfiguration | undefined
  },
): AuthenticationConfiguration {
  if (text === '') throw new Error('empty config data')
  const { expressions, profile, ownIssuers, initial } = options
  const { value, repeated } = parseConfigurationText(text)
  const configuration = parseAuthenticationConfiguration(value, { repeated, apiDomain: profile.apiDomain })
  const errors: FieldError[] = validateAuthenticationConfiguration(configuration, { expressions, disallowedIssuers: ownIssuers })
  if (initial !== undefined && JSON.stringify(initial.anonymous) !== JSON.stringify(configuration.anonymous))
    errors.push(field.forbidden(Path.of('anonymous'), 'changed from initial configuration file'))
  if (errors.length > 0) throw new Error(formatFieldErrors(errors))
  return configuration
}

function createIssuerSet(
  { jwt }: AuthenticationConfiguration,
  environment: ConfiguredEnvironment & { readonly expressions: ClaimExpressionCompiler },
): IssuerSet {
  const { clock, random } = environment
  const remotes: RemoteFetch[] = []
  const issuers = jwt.map((each) => {
    const { certificateAuthority } = each.issuer
    const remote = createRemoteFetch(certificateAuthority === '' ? {} : { ca: certificateAuthority })
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
