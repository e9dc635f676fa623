import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { ClientOptions } from './client.ts'
import { ClientError } from './client-error.ts'
import { type Entry, flagIn, invalid, type Kubeconfig, mergeKubeconfigs, pathIn, textIn } from './kubeconfig-file.ts'
import type { ConnectionOptions } from './remote.ts'
import { parseYamlText } from './yaml.ts'

export interface KubeconfigOptions {
  /** The file; absent: those of `KUBECONFIG` in `env`, else `~/.kube/config`. */
  readonly path?: string
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Default: the file's current context. */
  readonly context?: string
}

/** How to reach the server that a kubeconfig names: what `remoteClient` takes. */
export interface KubeconfigConnection extends ConnectionOptions, Pick<ClientOptions, 'impersonate'> {
  readonly namespace: string
  readonly context: string
}

/** What a user entry may hold that we cannot do, and what to tell. */
const unsupported: Readonly<Record<string, string>> = {
  exec: 'gets its credentials from a command (exec), which is not supported yet: give it a token or a client certificate',
  'auth-provider': 'uses an auth-provider, which is not supported: give it a token or a client certificate',
  username: 'uses a password, which no current server accepts: give it a token or a client certificate',
}

/**
 * Reads how to reach a server from kubeconfig files.
 *
 * @throws ClientError `InvalidKubeconfig` when a file, the context, its cluster or its user is missing or malformed;
 *   `Unsupported` for credential commands, auth providers, passwords and proxies.
 */
export async function loadKubeconfig(options: KubeconfigOptions = {}): Promise<KubeconfigConnection> {
  const files = await readFiles(options)
  const config = mergeKubeconfigs(files)
  const where = files.map(({ path }) => path).join(', ')
  const name = options.context ?? config.currentContext
  if (name === '') throw invalid(where, 'no current context is set')
  const context = find(config, { list: 'contexts', name, where })
  const cluster = find(config, { list: 'clusters', name: textIn(context.members, 'cluster', name) ?? '', where })
  const userName = textIn(context.members, 'user', name)
  return {
    context: name,
    namespace: textIn(context.members, 'namespace', name) ?? 'default',
    ...(await clusterPart(cluster)),
    ...(userName === undefined ? {} : await userPart(find(config, { list: 'users', name: userName, where }))),
  }
}

async function readFiles(options: KubeconfigOptions): Promise<{ path: string; value: unknown }[]> {
  const env = options.env ?? process.env
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  const isList = options.path === undefined && listed.length > 0
  const paths = options.path !== undefined ? [options.path] : isList ? listed : [join(env.HOME ?? homedir(), '.kube', 'config')]
  const files: { path: string; value: unknown }[] = []
  for (const path of paths) {
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (cause) {
      // Of a list of files those that are missing are passed over, as other clients do.
      if (isList && (cause as NodeJS.ErrnoException).code === 'ENOENT') continue
      throw new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: ${path} cannot be read`, cause })
    }
    files.push({ path, value: await parseYamlText(text, path) })
  }
  if (files.length === 0) throw invalid(paths.join(', '), 'none of the files exists')
  return files
}

function find(config: Kubeconfig, what: { list: 'clusters' | 'users' | 'contexts'; name: string; where: string }): Entry {
  const entry = config[what.list].get(what.name)
  if (entry === undefined) throw invalid(what.where, `${what.list} has no ${JSON.stringify(what.name)}`)
  return entry
}

async function clusterPart(cluster: Entry): Promise<ConnectionOptions> {
  const { members, name } = cluster
  const server = textIn(members, 'server', name)
  if (server === undefined) throw invalid(name, 'the cluster has no server')
  if (textIn(members, 'proxy-url', name) !== undefined) {
    throw new ClientError({
      code: 'Unsupported',
      message: `kubeconfig: the cluster ${name} is reached through a proxy, which is not supported`,
    })
  }
  const insecure = flagIn(members, 'insecure-skip-tls-verify')
  const ca = insecure ? undefined : await fileOrData(cluster, 'certificate-authority')
  const tlsServerName = textIn(members, 'tls-server-name', name)
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(insecure ? { insecureSkipTlsVerify: true } : {}),
  }
}

async function userPart(user: Entry): Promise<Partial<KubeconfigConnection>> {
  const { members, name } = user
  for (const [member, why] of Object.entries(unsupported)) {
    if (!Object.hasOwn(members, member) || members[member] === null || members[member] === '') continue
    const command = member === 'exec' ? commandOf(members.exec) : ''
    throw new ClientError({ code: 'Unsupported', message: `kubeconfig: the user ${name} ${why}${command}` })
  }
  const certificate = await fileOrData(user, 'client-certificate')
  const key = await fileOrData(user, 'client-key')
  if ((certificate === undefined) !== (key === undefined)) throw invalid(name, 'a client certificate and its key go together')
  const token = textIn(members, 'token', name)
  const tokenFile = pathIn(user, 'tokenFile')
  const as = textIn(members, 'as', name)
  return {
    ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    ...(tokenFile !== undefined ? { token: () => readToken(tokenFile) } : token !== undefined ? { token } : {}),
    ...(as === undefined ? {} : { impersonate: impersonationOf(user, as) }),
  }
}

function impersonationOf({ members, name }: Entry, user: string): NonNullable<ClientOptions['impersonate']> {
  const uid = textIn(members, 'as-uid', name)
  const groups = members['as-groups'] ?? []
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === 'string'))
    throw invalid(name, 'as-groups is not a list of texts')
  return { user, groups, ...(uid === undefined ? {} : { uid }) }
}

/** For messages only: which command it was. */
function commandOf(exec: unknown): string {
  const command = typeof exec === 'object' && exec !== null && 'command' in exec ? exec.command : undefined
  return typeof command === 'string' ? ` (command ${JSON.stringify(command)})` : ''
}

/** Files with tokens change while we run: read anew for each request, they are small and in the page cache. */
async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (cause) {
    throw new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: the token file ${path} cannot be read`, cause })
  }
}

/** PEM out of `<name>-data` (base64) or the file `<name>`; the data wins. */
async function fileOrData(entry: Entry, name: string): Promise<string | undefined> {
  const data = textIn(entry.members, `${name}-data`, entry.name)
  if (data !== undefined) {
    if (!/^[A-Za-z0-9+/=\s]+$/.test(data)) throw invalid(entry.name, `${name}-data is not base64`)
    return Buffer.from(data, 'base64').toString('utf8')
  }
  const path = pathIn(entry, name)
  if (path === undefined) return undefined
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: ${name} ${path} cannot be read`, cause })
  }
}
