import { Worker } from 'node:worker_threads'
import type { ManifestFile, RuleSettings, ValidationFinding } from 'krmkit/validate'

/**
 * Validates large texts in threads, one per text, so that the editor stays responsive and hostile texts end with
 * their thread. Ending the signal ends the thread.
 */

export interface ThreadTask {
  readonly file: ManifestFile
  readonly definitions: readonly ManifestFile[]
  readonly kubernetesVersion: string
  readonly rules: RuleSettings
}

export interface ThreadLimits {
  /** Time limit in milliseconds. Default 30 000. */
  readonly timeoutMs?: number
  /** Heap limit of the thread, in MiB. Default 512. */
  readonly heapMb?: number
}

/** The data of a thread that this program started. */
export interface ThreadData {
  readonly krmkitTask: ThreadTask
}

/** What ended a thread early. */
export type ThreadOutcome =
  | { readonly kind: 'findings'; readonly findings: readonly ValidationFinding[] }
  | { readonly kind: 'exceeded'; readonly limit: string }
  | { readonly kind: 'cancelled' }

/**
 * Validates one text.
 *
 * @param program the program that runs in the thread and calls `runThreadTask`
 */
export function validateInThread(
  program: string,
  task: ThreadTask,
  { signal, timeoutMs = 30_000, heapMb = 512 }: ThreadLimits & { readonly signal: AbortSignal },
): Promise<ThreadOutcome> {
  return new Promise((resolve, reject) => {
    const workerData: ThreadData = { krmkitTask: task }
    const argv = ['language-server', '--stdio']
    // The output of the process belongs to the protocol.
    const worker = new Worker(program, { workerData, argv, stdout: true, resourceLimits: { maxOldGenerationSizeMb: heapMb } })
    const end = (outcome: ThreadOutcome) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
      resolve(outcome)
      void worker.terminate()
    }
    const cancel = () => end({ kind: 'cancelled' })
    const timer = setTimeout(() => end({ kind: 'exceeded', limit: `${timeoutMs / 1000} seconds` }), timeoutMs)
    signal.addEventListener('abort', cancel)
    worker.once('message', (findings: readonly ValidationFinding[]) => end({ kind: 'findings', findings }))
    worker.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return end({ kind: 'exceeded', limit: `${heapMb} MiB of memory` })
      reject(error)
      end({ kind: 'cancelled' })
    })
    worker.once('exit', () => end({ kind: 'exceeded', limit: 'what its thread can do' }))
  })
}
