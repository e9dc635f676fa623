/**
 * Gives memory back while the server is idle. V8 lets the young generation of its heap grow to 32 MiB, and shrinks it only at a collection
 * during which little is allocated, which an idle server never comes to. A collection of the young generation takes a few milliseconds;
 * one of the whole heap takes a millisecond or two for each MiB, so it is left to V8.
 */
import { performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Clock, systemClock } from '@krmkit/meta'

/** What is measured and done; the process itself by default. */
export interface IdleMemoryParts {
  readonly clock: Clock
  /** Share of the time since the last call in which the event loop was busy, from 0 to 1. */
  readonly busyShare: () => number
  /** Committed bytes of the young generation. */
  readonly youngBytes: () => number
  /** Collects the young generation. */
  readonly collect: () => void
}

const everyMs = 2000
const maxBusyShare = 0.02
/** Not worth a collection. */
const keptBytes = 4 * 1024 * 1024
/** Collections in one idle period: V8 counts as idle later than this does. */
const maxCollections = 5

/** Collects the young generation when it is large and the process idle, until disposed. */
export function releaseIdleMemory({ clock, busyShare, youngBytes, collect }: IdleMemoryParts = ofThisProcess()): Disposable {
  let collections = 0
  let cancel = clock.setTimeout(check, everyMs)
  function check(): void {
    if (busyShare() > maxBusyShare) collections = 0
    else if (collections < maxCollections && youngBytes() > keptBytes) {
      collections++
      collect()
    }
    cancel = clock.setTimeout(check, everyMs)
  }
  return { [Symbol.dispose]: () => cancel() }
}

/** Measures and collects the memory of this process. */
export function ofThisProcess(): IdleMemoryParts {
  let last = performance.eventLoopUtilization()
  let collector: ((options: { readonly type: 'minor' }) => void) | undefined
  return {
    clock: systemClock,
    busyShare() {
      const before = last
      last = performance.eventLoopUtilization()
      return performance.eventLoopUtilization(last, before).utilization
    },
    youngBytes: () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.physical_space_size ?? 0,
    collect() {
      collector ??= exposedCollector()
      collector({ type: 'minor' })
    },
  }
}

/** The function exists in contexts that are made while the flag is set. The code cache is valid without the flag only. */
function exposedCollector(): (options: { readonly type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('gc')
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}
