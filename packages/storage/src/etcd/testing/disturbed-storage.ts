import type { Encode, Storage, StorageWriteOptions, WriteResult } from '../../interfaces.ts'

export interface Disturbance {
  /** Whether the next write is preceded by a fault. */
  isDue(): boolean
  /** Causes a fault, and resolves when the fault has ended. */
  run(): Promise<void>
}

/**
 * A store with faults between writes. No write is in flight during a fault, so none has an unknown outcome; watches and other calls
 * continue.
 */
export function disturbedStorage(storage: Storage, disturbance: Disturbance): Storage {
  const writes = new Set<Promise<unknown>>()
  let running: Promise<void> | undefined
  const disturb = async () => {
    await Promise.allSettled(writes)
    await disturbance.run()
    running = undefined
  }
  const undisturbed = async (write: () => Promise<WriteResult>): Promise<WriteResult> => {
    if (running === undefined && disturbance.isDue()) running = disturb()
    while (running !== undefined) await running
    const writing = write()
    writes.add(writing)
    try {
      return await writing
    } finally {
      writes.delete(writing)
    }
  }
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'put' || name === 'delete') {
        return (key: string, encode: Encode, options?: StorageWriteOptions) =>
          undisturbed(() => target[name](key, encode, options))
      }
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
