import type { ServerScope } from '../request/scope.ts'

/** Time limit for a response of the storage, in milliseconds: the default of kube-apiserver. */
const answerMs = 2000

/** A health check of the storage. @returns a function that throws when the storage does not answer */
export function storageCheck({ registry, clock }: Pick<ServerScope, 'registry' | 'clock'>): () => Promise<void> {
  return async () => {
    if (Number(registry.resourceVersion) < 1) throw new Error('the store has no revision')
    const refreshing = registry.refresh()
    if (refreshing === undefined) return
    await new Promise<void>((resolve, reject) => {
      const cancel = clock.setTimeout(() => reject(new Error('the storage does not answer')), answerMs)
      void refreshing.then(resolve, reject).finally(cancel)
    })
  }
}
