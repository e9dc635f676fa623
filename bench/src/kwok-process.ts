import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRemoteClient } from '@krmkit/client'
import { Node } from '@krmkit/kinds/core/v1'
import { ApiError } from '@krmkit/meta'

export interface KwokProcess {
  readonly pid: number | undefined
  close(): Promise<void>
}

const node = 'kwok-1'
const kwokApi = 'kwok.x-k8s.io/v1alpha1'
/** What kwok does, which without stages ends at once: nodes become ready, and pods run. */
const stages = [
  stage('Node', 'phase: Running\nconditions: [{ type: Ready, status: "True", reason: KubeletReady }]'),
  stage('Pod', 'phase: Running\nconditions: [{ type: Ready, status: "True" }]'),
]
const attempts = 300
const pauseMs = 200

/** Starts kwok beside a server, with one node. Resolves when the node is ready. @param program the executable */
export async function startKwok(
  program: string,
  { url, folder, token }: { readonly url: string; readonly folder: string; readonly token: string },
): Promise<KwokProcess> {
  const kubeconfig = join(folder, 'kwok.kubeconfig')
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(url, token)), { mode: 0o600 })
  const config = join(folder, 'kwok.stages')
  writeFileSync(config, stages.map((stage) => JSON.stringify(stage)).join('\n---\n'))
  const env = { ...process.env, HOME: folder }
  const child = spawn(program, ['--kubeconfig', kubeconfig, '--manage-all-nodes', '--config', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env,
  })
  let log = ''
  child.stderr?.on('data', (text) => {
    log = `${log}${text}`.slice(-4096)
  })
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`kwok ended:\n${log}`)))
  })
  failed.catch(() => undefined)
  const close = () => closed(child)
  try {
    await createNode(url, token)
    await Promise.race([nodeReady({ url, token, name: node }), failed])
    return { pid: child.pid, close }
  } catch (error) {
    await close()
    throw error
  }
}

function stage(kind: string, statusTemplate: string): object {
  const selector = { matchExpressions: [{ key: '.status.phase', operator: 'NotIn', values: ['Running'] }] }
  const spec = { resourceRef: { apiGroup: 'v1', kind }, selector, next: { statusTemplate } }
  return { apiVersion: kwokApi, kind: 'Stage', metadata: { name: `${kind.toLowerCase()}-running` }, spec }
}

async function createNode(server: string, token: string): Promise<void> {
  await using client = createRemoteClient({ server, token, insecureSkipTlsVerify: true })
  await client.create(Node, { metadata: { name: node } })
}

interface NodeTarget {
  readonly url: string
  readonly token: string
  readonly name: string
}

/** Resolves when a node is ready. */
export async function nodeReady({ url, token, name }: NodeTarget): Promise<void> {
  await using client = createRemoteClient({ server: url, token, insecureSkipTlsVerify: true })
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = await client.get(Node, name).catch(unlessFound)
    const isReady = found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
    if (isReady === true) return
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  throw new Error(`node ${name} did not become ready`)
}

function unlessFound(error: unknown): undefined {
  if (ApiError.is(error) && error.reason === 'NotFound') return undefined
  throw error
}

async function closed(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

function kubeconfigOf(server: string, token: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'bench', user: { token } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  }
}
