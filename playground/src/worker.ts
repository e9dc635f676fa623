/// <reference lib="webworker" />
import { answerAccess } from './access.ts'
import { Cluster } from './cluster.ts'
import { diagnose } from './diagnostics.ts'
import { writeFragment } from './link.ts'
import type { CallName, Calls, FromWorker, ToWorker } from './messages.ts'
import { ownedLines, previewApply } from './ownership.ts'
import { runLine } from './terminal/run.ts'

/** The worker: the API server, and the calls of the page. */

const scope = self as unknown as {
  postMessage(message: FromWorker): void
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null
}
let started: Promise<Cluster> | undefined
const running = new Map<number, AbortController>()

type Handlers = { readonly [N in CallName]: (given: Calls[N]['arguments'], id: number) => Promise<Calls[N]['result']> }

const handlers: Handlers = {
  async start({ state }) {
    started = Cluster.start(state?.release)
    const cluster = await started
    return { release: cluster.release, failed: state === undefined ? 0 : await cluster.replay(state.journal) }
  },
  async run({ line, manifests, namespace }, id) {
    const abort = new AbortController()
    running.set(id, abort)
    const send = (isError: boolean) => (text: string) => scope.postMessage({ kind: 'output', id, text, isError })
    const output = { print: send(false), warn: (text: string) => send(true)(`${text}\n`) }
    try {
      return await runLine(line, { cluster: await cluster(), manifests, namespace, output, signal: abort.signal })
    } finally {
      running.delete(id)
    }
  },
  async diagnose({ text }) {
    const current = await cluster()
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const { status, text: list } = await current.request({ path })
    const { items = [] } = status === 200 ? (JSON.parse(list) as { items?: object[] }) : {}
    const typed = items.map((item) => ({ ...item, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }))
    return diagnose(text, current.release, typed)
  },
  ownership: async (reference) => ownedLines(await cluster(), reference),
  preview: async ({ text, ...options }) => previewApply(await cluster(), text, options),
  access: async (question) => answerAccess(await cluster(), question),
  async release({ release }) {
    const current = await cluster()
    await current.switchRelease(release)
    return current.release
  },
  async nodes({ count }) {
    const current = await cluster()
    await current.setNodes(count)
    return current.nodes
  },
  async share(state) {
    const { journal, release, nodes } = await cluster()
    return writeFragment({ ...state, journal, release, nodes })
  },
}

function cluster(): Promise<Cluster> {
  if (started === undefined) throw new Error('the server was not started')
  return started
}

scope.onmessage = ({ data }) => {
  if (data.kind === 'stop') running.get(data.id)?.abort()
  else void answer(data)
}

async function answer({ id, name, arguments: given }: ToWorker & { kind: 'call' }): Promise<void> {
  try {
    const handler = handlers[name] as (given: unknown, id: number) => Promise<unknown>
    scope.postMessage({ kind: 'result', id, value: await handler(given, id) })
  } catch (error) {
    scope.postMessage({ kind: 'error', id, message: error instanceof Error ? error.message : String(error) })
  }
}
