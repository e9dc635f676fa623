import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { OptionKinds } from '@krmkit/base/arguments'
import { pemBlocks } from '@krmkit/base/pem'
import type { NamingProfile } from '@krmkit/meta'
import { ClientError } from './client-error.ts'
import { type ClientOptions, checkArguments } from './client-options.ts'
import type { ExecOptions } from './credentials/exec-plugin.ts'
import { booleanIn, type Entry, fileOrData, invalid, type Kubeconfig, mergeKubeconfigs, stringIn } from './kubeconfig-file.ts'
import { readUser } from './kubeconfig-user.ts'
import { parseProxyUrl } from './proxy/proxy-url.ts'
import type { ConnectionOptions } from './remote.ts'
import { parseYamlText } from './yaml.ts'

export interface KubeconfigOptions {
  /** Path of the file. Default: the files of `KUBECONFIG`, or `~/.kube/config`. */
  readonly path?: string
  /** Environment variables. Default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Name of the context. Default: the current context of the file. */
  readonly context?: string
  /** Names passed to credential commands. Default: the names of Kubernetes. */
  readonly profile?: Pick<NamingProfile, 'apiDomain' | 'vendor'>
  /** How credential commands are run. */
  readonly exec?: Partial<Pick<ExecOptions, 'clock' | 'hasTerminal' | 'run'>>
}

const optionKinds: OptionKinds<KubeconfigOptions> = {
  path: 'text',
  env: 'object',
  context: 'text',
  profile: 'object',
  exec: 'object',
}

/** The connection of a kubeconfig context: options for `createRemoteClient`. */
export interface KubeconfigConnection extends ConnectionOptions, Pick<ClientOptions, 'impersonate'> {
  readonly namespace: string
  readonly context: string
}

/**
 * Loads the connection of a context from kubeconfig files.
 *
 * @throws ClientError `InvalidKubeconfig` when a file, the context, its cluster or its user is missing or malformed;
 *   `Unsupported` for auth providers, and for proxies that support neither HTTP nor SOCKS 5; `InvalidRequest` for invalid
 *   options
 * @example
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * const client = createRemoteClient(await loadKubeconfig({ context: 'staging' }))
 */
export async function loadKubeconfig(options: KubeconfigOptions = {}): Promise<KubeconfigConnection> {
  checkArguments(options, { what: 'loadKubeconfig', kinds: optionKinds, example: '{ path }' })
  const files = await readFiles(options)
  const config = mergeKubeconfigs(files)
  const where = files.map(({ path }) => path).join(', ')
  const name = options.context ?? config.currentContext
  if (name === '') throw invalid(where, 'no current context is set')
  const context = findEntry(config, { list: 'contexts', name, where })
  const cluster = findEntry(config, { list: 'clusters', name: stringIn(context.members, 'cluster', name) ?? '', where })
  const userName = stringIn(context.members, 'user', name)
  const connection = await clusterConnection(cluster)
  const user = userName === undefined ? undefined : findEntry(config, { list: 'users', name: userName, where })
  return {
    context: name,
    namespace: stringIn(context.members, 'namespace', name) ?? 'default',
    ...connection,
    ...(user === undefined ? {} : await readUser(user, { cluster, ca: connection.ca, ...options })),
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
      // Missing files of a list are skipped, as in other clients.
      if (isList && (cause as NodeJS.ErrnoException).code === 'ENOENT') continue
      throw new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: ${path} cannot be read`, cause })
    }
    files.push({ path, value: await parseYamlText(text, path) })
  }
  if (files.length === 0) throw invalid(paths.join(', '), 'none of the files exist')
  return files
}

function findEntry(config: Kubeconfig, ref: { list: 'clusters' | 'users' | 'contexts'; name: string; where: string }): Entry {
  const entry = config[ref.list].get(ref.name)
  if (entry === undefined) throw invalid(ref.where, `${ref.list} has no ${JSON.stringify(ref.name)}`)
  return entry
}

async function clusterConnection(cluster: Entry): Promise<ConnectionOptions> {
  const { members, name } = cluster
  const server = stringIn(members, 'server', name)
  if (server === undefined) throw invalid(name, 'the cluster has no server')
  const proxyUrl = stringIn(members, 'proxy-url', name)
  if (proxyUrl !== undefined) validateProxy(proxyUrl, name)
  const insecure = booleanIn(members, 'insecure-skip-tls-verify', name)
  const ca = insecure ? undefined : await fileOrData(cluster, 'certificate-authority')
  if (ca !== undefined) validateAuthorities(ca, name)
  const tlsServerName = stringIn(members, 'tls-server-name', name)
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(insecure ? { insecureSkipTlsVerify: true } : {}),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  }
}

/** Rejects an unusable proxy; otherwise requests would bypass it. */
function validateProxy(proxyUrl: string, where: string): void {
  try {
    parseProxyUrl(proxyUrl)
  } catch (cause) {
    if (!(cause instanceof ClientError)) throw cause
    const code = cause.code === 'Unsupported' ? cause.code : 'InvalidKubeconfig'
    throw new ClientError({ code, message: `kubeconfig: ${where}: proxy-url: ${cause.message}`, cause })
  }
}

/** Rejects an empty bundle, for which the TLS library would fall back to the authorities of the platform. */
function validateAuthorities(ca: string, where: string): void {
  let blocks: readonly string[]
  try {
    blocks = pemBlocks(ca, 'CERTIFICATE')
  } catch (cause) {
    throw invalid(where, `certificate-authority: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  if (blocks.length === 0) throw invalid(where, 'certificate-authority has no PEM certificate')
}
