import { parentPort, workerData } from 'node:worker_threads'
import { validateManifests } from 'krmkit/validate'
import type { ThreadData } from './thread-validator.ts'

/** Runs the task of this thread. @returns whether the thread has one */
export async function runThreadTask(): Promise<boolean> {
  const { krmkitTask: task } = (workerData ?? {}) as Partial<ThreadData>
  if (task === undefined || parentPort === null) return false
  const { file, definitions, kubernetesVersion, rules } = task
  const { findings } = await validateManifests([file], { definitions, release: kubernetesVersion, rules })
  parentPort.postMessage(findings)
  return true
}
