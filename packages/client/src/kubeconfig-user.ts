import { readFile } from 'node:fs/promises'
import { type NamingProfile, stockProfile, systemClock } from '@krmkit/meta'
import { ClientError } from './client-error.ts'
import type { ClientOptions } from './client-options.ts'
import { execClusterOf, readExecConfig } from './credentials/exec-config.ts'
import { type ExecOptions, execCredentials } from './credentials/exec-plugin.ts'
import { type Entry, fileOrData, invalid, pathIn, stringIn, stringsIn } from './kubeconfig-file.ts'
import type { ConnectionOptions } from './remote.ts'

export interface ReadUserOptions {
  /** The cluster of the context, for commands with `provideClusterInfo`. */
  readonly cluster: Entry
  /** PEM of the authorities of the cluster. */
  readonly ca: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly profile?: Pick<NamingProfile, 'apiDomain' | 'vendor'>
  readonly exec?: Partial<Pick<ExecOptions, 'clock' | 'hasTerminal' | 'run'>>
}

/** The part of a connection that a user entry sets. */
export type UserConnection = Pick<ConnectionOptions, 'certificate' | 'key' | 'token' | 'basic' | 'credentials'> &
  Pick<ClientOptions, 'impersonate'>

/**
 * Reads a user entry: token or token file, certificate and key, username and password, credential command, impersonation.
 *
 * @throws ClientError `InvalidKubeconfig`; `Unsupported` for auth providers
 */
export async function readUser(user: Entry, options: ReadUserOptions): Promise<UserConnection> {
  const { members, name } = user
  const unknown = Object.keys(members).find((member) => !knownMembers.has(member))
  // A misspelled credential would silently authenticate as another user.
  if (unknown !== undefined) throw invalid(name, `unknown field ${JSON.stringify(unknown)} of a user`)
  if (isSet(members['auth-provider'])) {
    throw new ClientError({
      code: 'Unsupported',
      message: `kubeconfig: the user ${name} uses an auth-provider, which is not supported: use a token, a client certificate or a command (exec)`,
    })
  }
  const certificate = await fileOrData(user, 'client-certificate')
  const key = await fileOrData(user, 'client-key')
  if ((certificate === undefined) !== (key === undefined))
    throw invalid(name, 'client-certificate and client-key must be set together')
  const token = tokenOf(user)
  const basic = basicOf(user)
  if (token !== undefined && basic !== undefined) throw invalid(name, 'token and password are mutually exclusive')
  const impersonate = impersonationOf(user)
  // Validated even if a token makes the command unnecessary.
  const credentials = isSet(members.exec) ? commandOf(user, options) : undefined
  return {
    ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    ...(token === undefined ? {} : { token }),
    ...(basic === undefined ? {} : { basic }),
    ...(credentials === undefined || token !== undefined || basic !== undefined ? {} : { credentials }),
    ...(impersonate === undefined ? {} : { impersonate }),
  }
}

/** Members of a kubeconfig user that hold credentials. */
export const kubeconfigCredentialMembers: readonly string[] = [
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'token',
  'tokenFile',
  'username',
  'password',
]

const knownMembers: ReadonlySet<string> = new Set([
  ...kubeconfigCredentialMembers,
  ...['as', 'as-uid', 'as-groups', 'as-user-extra', 'auth-provider', 'exec', 'extensions'],
])

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function commandOf(user: Entry, options: ReadUserOptions) {
  const { profile = stockProfile, env = process.env, ca, cluster, exec = {} } = options
  const group = `client.authentication.${profile.apiDomain}`
  return execCredentials(readExecConfig(user, group), {
    cluster: execClusterOf(cluster, { ca, group }),
    env,
    infoName: `${profile.vendor.toUpperCase()}_EXEC_INFO`,
    clock: systemClock,
    ...exec,
  })
}

function tokenOf(user: Entry): ConnectionOptions['token'] {
  const file = pathIn(user, 'tokenFile')
  return file === undefined ? stringIn(user.members, 'token', user.name) : () => readToken(file)
}

function basicOf({ members, name }: Entry): ConnectionOptions['basic'] {
  const username = stringIn(members, 'username', name)
  const password = stringIn(members, 'password', name)
  if (username === undefined && password === undefined) return undefined
  return { username: username ?? '', password: password ?? '' }
}

function impersonationOf({ members, name }: Entry): ClientOptions['impersonate'] {
  const user = stringIn(members, 'as', name)
  const uid = stringIn(members, 'as-uid', name)
  const groups = stringsIn(members, 'as-groups', name)
  const userExtra = members['as-user-extra'] ?? {}
  if (typeof userExtra !== 'object' || Array.isArray(userExtra)) throw invalid(name, 'as-user-extra is not an object')
  const extra = Object.entries(userExtra as object).map(
    ([key, values]) => [key, stringsIn({ [key]: values }, key, `${name}: as-user-extra`)] as const,
  )
  if (user === undefined) {
    if (uid !== undefined || groups.length > 0 || extra.length > 0)
      throw invalid(name, 'as-uid, as-groups and as-user-extra require as')
    return undefined
  }
  return {
    user,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(extra.length === 0 ? {} : { extra: Object.assign(Object.create(null) as object, Object.fromEntries(extra)) }),
  }
}

/**
 * Reads a token file. Called for each request, because tokens are rotated. Reading is fast: the file is in the page cache.
 */
async function readToken(path: string): Promise<string> {
  let token: string
  try {
    token = (await readFile(path, 'utf8')).trim()
  } catch (cause) {
    throw new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: the token file ${path} cannot be read`, cause })
  }
  if (token === '') throw new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: the token file ${path} is empty` })
  return token
}
