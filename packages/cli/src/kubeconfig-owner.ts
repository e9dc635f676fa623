import { ClientError, createRemoteClient, type KubeconfigConnection, loadKubeconfig } from '@krmkit/client'
import { CliError } from './cli-error.ts'

/** How long the server of an existing kubeconfig may take to respond. */
const responseMs = 2000

/**
 * Checks that a kubeconfig can be written without taking it from another running server. That server is recognized by its certificate,
 * so that a program that has taken its port since does not count.
 *
 * @param url address of the server that is about to write.
 * @throws CliError `FileFailed` when the server of the existing file responds
 */
export async function requireUnusedKubeconfig(path: string, url: string): Promise<void> {
  const existing = await connectionIn(path)
  if (existing === undefined || existing.server === url || !(await responds(existing))) return
  const message = `${path} is the kubeconfig of a running server, ${existing.server}; choose another --data-dir or --write-kubeconfig`
  throw new CliError({ code: 'FileFailed', message })
}

/** The server of a kubeconfig, and whether it responds; undefined for a missing file, and for one that is no kubeconfig. */
export async function serverOfKubeconfig(
  path: string,
): Promise<{ readonly url: string; readonly isRunning: boolean } | undefined> {
  const connection = await connectionIn(path)
  return connection === undefined ? undefined : { url: connection.server, isRunning: await responds(connection) }
}

/** Returns undefined for a missing file, and for one that is no kubeconfig. */
async function connectionIn(path: string): Promise<KubeconfigConnection | undefined> {
  try {
    return await loadKubeconfig({ path })
  } catch (error) {
    if (error instanceof ClientError) return undefined
    throw error
  }
}

/** Whether the server responds. Its credentials are not used: any response will do. */
async function responds({ server, ca, tlsServerName, insecureSkipTlsVerify, proxyUrl }: KubeconfigConnection): Promise<boolean> {
  await using client = createRemoteClient({
    server,
    maxRetries: 0,
    ...(ca === undefined ? {} : { ca }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(insecureSkipTlsVerify === undefined ? {} : { insecureSkipTlsVerify }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  })
  const signal = AbortSignal.timeout(responseMs)
  try {
    await client.request({ path: '/version', signal })
    return true
  } catch (error) {
    if (signal.aborted || error instanceof ClientError) return false
    throw error
  }
}
