import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { listen } from '@krmkit/http'
import { lmdbStorage } from '@krmkit/storage'
import { messageOf } from '../cli-error.ts'
import { serverOfKubeconfig } from '../kubeconfig-owner.ts'

/** What `krmkit doctor` checks before a server starts. No check changes the data folder. */

export interface CheckResult {
  readonly name: string
  /** `warning`: a server starts, but something does not work. */
  readonly result: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** What to do; undefined: nothing. */
  readonly advice?: string
}

export interface CheckedSetup {
  readonly dataDir: string
  readonly bindAddress: string
  readonly securePort: number
}

const oldestNode = 20

export function checkNode(version: string): CheckResult {
  const name = 'Node'
  if (Number.parseInt(version, 10) >= oldestNode) return { name, result: 'ok', detail: version }
  return { name, result: 'failed', detail: version, advice: `install Node ${oldestNode} or later` }
}

export function checkDataFolder({ dataDir }: CheckedSetup): CheckResult {
  const name = 'data folder'
  const path = resolve(dataDir)
  let existing = path
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  const advice = 'choose another folder with --data-dir'
  if (!statSync(existing).isDirectory()) return { name, result: 'failed', detail: `${existing} is not a folder`, advice }
  try {
    accessSync(existing, constants.W_OK | constants.X_OK)
  } catch (error) {
    return { name, result: 'failed', detail: messageOf(error), advice }
  }
  return { name, result: 'ok', detail: existing === path ? path : `${path}, which the server creates` }
}

export async function checkKubeconfig({ dataDir }: CheckedSetup): Promise<CheckResult> {
  const name = 'kubeconfig'
  const path = resolve(dataDir, 'admin.kubeconfig')
  const server = await serverOfKubeconfig(path)
  if (server === undefined) return { name, result: 'ok', detail: `${path}, which the server writes` }
  if (!server.isRunning) return { name, result: 'ok', detail: `${path}; ${server.url} is not running` }
  const advice = 'a second server needs another --data-dir or --write-kubeconfig'
  return { name, result: 'warning', detail: `${path}; ${server.url} is running`, advice }
}

export async function checkPort({ bindAddress, securePort }: CheckedSetup): Promise<CheckResult> {
  const name = 'port'
  const refuse = { handle: async () => ({ status: 503, headers: {}, body: { kind: 'empty' } }) as const }
  try {
    const listening = await listen(refuse, { host: bindAddress, port: securePort, tls: false })
    await listening.close({ graceMs: 0 })
    return { name, result: 'ok', detail: `${bindAddress}:${listening.port} is free` }
  } catch (error) {
    const advice = 'choose another port with --secure-port; 0 chooses a free one'
    return { name, result: 'failed', detail: messageOf(error), advice }
  }
}

/** Opens a durable store in a temporary folder. */
export async function checkDurableStorage(open: typeof lmdbStorage = lmdbStorage): Promise<CheckResult> {
  const name = 'lmdb'
  const dir = await mkdtemp(join(tmpdir(), 'krmkit-doctor-'))
  try {
    await (await open({ dir: join(dir, 'data') })).close()
    return { name, result: 'ok', detail: 'durable storage works' }
  } catch (error) {
    const advice = 'without it, use --storage memory or --storage etcd'
    return { name, result: 'warning', detail: messageOf(error), advice }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
