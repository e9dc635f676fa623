import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type NamingProfile, pemBlocks } from '@krmkit/meta'
import type { ClientOptions } from './client.ts'
import { ClientError } from './client-error.ts'
import type { ExecOptions } from './credentials/exec-plugin.ts'
import { type Entry, fileOrData, flagIn, invalid, type Kubeconfig, mergeKubeconfigs, textIn } from './kubeconfig-file.ts'
import { kubeconfigUser } from './kubeconfig-user.ts'
import type { ConnectionOptions } from './remote.ts'
import { parseYamlText } from './yaml.ts'

export interface KubeconfigOptions {
  /** The file; absent: those of `KUBECONFIG` in `env`, else `~/.kube/config`. */
  readonly path?: string
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Default: the file's current context. */
  readonly context?: string
  /** Names that commands are told; default: the stock ones. */
  readonly profile?: Pick<NamingProfile, 'apiDomain' | 'vendor'>
  /** How commands that get credentials are run. */
  readonly exec?: Partial<Pick<ExecOptions, 'clock' | 'hasTerminal' | 'run'>>
}

/** How to reach the server that a kubeconfig names: what `remoteClient` takes. */
export interface KubeconfigConnection extends ConnectionOptions, Pick<ClientOptions, 'impersonate'> {
  readonly namespace: string
  readonly context: string
}

/**
 * Reads how to reach a server from kubeconfig files.
 *
 * @throws ClientError `InvalidKubeconfig` when a file, the context, its cluster or its user is missing or malformed;
 *   `Unsupported` for auth providers and proxies.
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
  const connection = await clusterPart(cluster)
  const user = userName === undefined ? undefined : find(config, { list: 'users', name: userName, where })
  return {
    context: name,
    namespace: textIn(context.members, 'namespace', name) ?? 'default',
    ...connection,
    ...(user === undefined ? {} : await kubeconfigUser(user, { cluster, ca: connection.ca, ...options })),
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
  const insecure = flagIn(members, 'insecure-skip-tls-verify', name)
  const ca = insecure ? undefined : await fileOrData(cluster, 'certificate-authority')
  if (ca !== undefined) requireAuthorities(ca, name)
  const tlsServerName = textIn(members, 'tls-server-name', name)
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(insecure ? { insecureSkipTlsVerify: true } : {}),
  }
}

/** An empty bundle would mean the authorities of the platform to the TLS library. */
function requireAuthorities(ca: string, where: string): void {
  let blocks: readonly string[]
  try {
    blocks = pemBlocks(ca, 'CERTIFICATE')
  } catch (cause) {
    throw invalid(where, `certificate-authority: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  if (blocks.length === 0) throw invalid(where, 'certificate-authority holds no certificate in PEM')
}
