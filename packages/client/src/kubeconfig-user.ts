import { readFile } from 'node:fs/promises'
import { type NamingProfile, stockProfile, systemClock } from '@krmkit/meta'
import type { ClientOptions } from './client.ts'
import { ClientError } from './client-error.ts'
import { execClusterOf, readExecConfig } from './credentials/exec-config.ts'
import { type ExecOptions, execCredentials } from './credentials/exec-plugin.ts'
import { type Entry, fileOrData, invalid, pathIn, textIn } from './kubeconfig-file.ts'
import type { ConnectionOptions } from './remote.ts'

export interface KubeconfigUserOptions {
  /** The cluster that the user goes to, for commands that want to know. */
  readonly cluster: Entry
  /** PEM of its authorities. */
  readonly ca: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly profile?: Pick<NamingProfile, 'apiDomain' | 'vendor'>
  readonly exec?: Partial<Pick<ExecOptions, 'clock' | 'hasTerminal' | 'run'>>
}

/** What of a connection a user decides. */
export type UserConnection = Pick<ConnectionOptions, 'certificate' | 'key' | 'token' | 'basic' | 'credentials'> &
  Pick<ClientOptions, 'impersonate'>

/**
 * Reads the user of a kubeconfig: token or file of one, certificate and key, name and password, a command that gets
 * credentials; and whom to impersonate.
 *
 * @throws ClientError `InvalidKubeconfig`; `Unsupported` for auth providers.
 */
export async function kubeconfigUser(user: Entry, options: KubeconfigUserOptions): Promise<UserConnection> {
  const { members, name } = user
  const unknown = Object.keys(members).find((member) => !knownMembers.has(member))
  // A credential under a misspelled name would be none, and the caller another user.
  if (unknown !== undefined) throw invalid(name, `${JSON.stringify(unknown)} is no member of a user`)
  if (isSet(members['auth-provider'])) {
    throw new ClientError({
      code: 'Unsupported',
      message: `kubeconfig: the user ${name} uses an auth-provider, which is not supported: give it a token, a client certificate or a command (exec)`,
    })
  }
  const certificate = await fileOrData(user, 'client-certificate')
  const key = await fileOrData(user, 'client-key')
  if ((certificate === undefined) !== (key === undefined)) throw invalid(name, 'a client certificate and its key go together')
  const token = tokenOf(user)
  const basic = basicOf(user)
  if (token !== undefined && basic !== undefined) throw invalid(name, 'a token and a password cannot be used together')
  const impersonate = impersonationOf(user)
  // Checked even where a token makes the command unnecessary.
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

function commandOf(user: Entry, options: KubeconfigUserOptions) {
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
  return file === undefined ? textIn(user.members, 'token', user.name) : () => readToken(file)
}

function basicOf({ members, name }: Entry): ConnectionOptions['basic'] {
  const username = textIn(members, 'username', name)
  const password = textIn(members, 'password', name)
  if (username === undefined && password === undefined) return undefined
  return { username: username ?? '', password: password ?? '' }
}

function impersonationOf({ members, name }: Entry): ClientOptions['impersonate'] {
  const user = textIn(members, 'as', name)
  const uid = textIn(members, 'as-uid', name)
  const groups = textsIn(members['as-groups'], `${name}: as-groups`)
  const given = members['as-user-extra'] ?? {}
  if (typeof given !== 'object' || Array.isArray(given)) throw invalid(name, 'as-user-extra is not an object')
  const extra = Object.entries(given as object).map(([key, values]) => [key, textsIn(values, `${name}: as-user-extra`)] as const)
  if (user === undefined) {
    if (uid !== undefined || groups.length > 0 || extra.length > 0)
      throw invalid(name, 'as-uid, as-groups and as-user-extra need as')
    return undefined
  }
  return {
    user,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(extra.length === 0 ? {} : { extra: Object.assign(Object.create(null) as object, Object.fromEntries(extra)) }),
  }
}

function textsIn(value: unknown, where: string): readonly string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((one): one is string => typeof one === 'string')) return value
  throw invalid(where, 'is not a list of texts')
}

/** Files with tokens change while we run: read anew for each request, they are small and in the page cache. */
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
