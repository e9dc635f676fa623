import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Authenticator,
  anonymousAuthenticator,
  bearerToken,
  chain,
  clientCertificate,
  parseStaticTokens,
  type StaticToken,
  staticTokens,
  type TokenAuthenticator,
  tokenChain,
  withAuthenticatedGroup,
} from '@krmkit/authentication'
import { type Authorizer, alwaysAllow, alwaysDeny, systemMasters, unionAuthorizer } from '@krmkit/authorization'
import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import { CliError } from './cli-error.ts'
import { readText, writeSecret } from './files.ts'
import type { AuthorizationMode, ServeOptions } from './serve-options.ts'

/** Who may call, and the token that an administrator is given. */
export interface Callers {
  readonly authenticator: Authenticator
  /** Absent when a token file names no member of `system:masters`. */
  readonly adminToken: string | undefined
  /** PEM of the authorities of client certificates. */
  readonly clientCa: string | undefined
}

export interface CallersEnvironment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  /** Knows the tokens of service accounts. */
  readonly accountTokens: TokenAuthenticator
}

/**
 * Without a token file one administrator is made, whose token is kept in the data folder, so that a kubeconfig stays good
 * over restarts.
 */
export async function callers(options: ServeOptions, environment: CallersEnvironment): Promise<Callers> {
  const { random, clock, profile } = environment
  const clientCa = options.clientCaFile === undefined ? undefined : await readText(options.clientCaFile, 'client-ca-file')
  const tokens =
    options.tokenAuthFile === undefined
      ? [await ownAdministrator(join(options.dataDir, 'admin.token'), environment)]
      : parseStaticTokens(await readText(options.tokenAuthFile, 'token-auth-file'))
  const people = chain([
    ...(clientCa === undefined ? [] : [clientCertificate({ authorities: clientCa, clock, profile })]),
    bearerToken(tokenChain([staticTokens(tokens, { random }), environment.accountTokens])),
  ])
  const known = withAuthenticatedGroup(people)
  const anonymous = options.anonymousAuth ?? !options.authorizationMode.includes('AlwaysAllow')
  return {
    authenticator: anonymous ? chain([known, anonymousAuthenticator], { onRejection: 'stop' }) : known,
    adminToken: tokens.find(({ user }) => user.groups.includes('system:masters'))?.token,
    clientCa,
  }
}

const authorizers: Readonly<Record<AuthorizationMode, Authorizer>> = {
  AlwaysAllow: alwaysAllow,
  AlwaysDeny: alwaysDeny,
  SystemMasters: systemMasters,
}

/** The authorizers of the modes, asked in their order. */
export function authorizerOf(modes: readonly AuthorizationMode[]): Authorizer {
  const chosen = modes.map((mode) => authorizers[mode])
  return chosen.length === 1 ? chosen[0]! : unionAuthorizer(chosen)
}

async function ownAdministrator(path: string, { random }: CallersEnvironment): Promise<StaticToken> {
  const user = { username: 'kubernetes-admin', uid: 'kubernetes-admin', groups: ['system:masters'] }
  try {
    const token = (await readFile(path, 'utf8')).trim()
    if (token.length >= 20) return { token, user }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new CliError({ code: 'FileFailed', message: `cannot read ${path}`, cause })
  }
  const token = Buffer.from(random.bytes(32)).toString('base64url')
  await writeSecret(path, `${token}\n`)
  return { token, user }
}
