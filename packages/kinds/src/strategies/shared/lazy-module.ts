/** Modules that are loaded on first use, which keeps large engines out of programs that never need them. */

export interface LazyModule<T> {
  /** Starts to load, for `ready` of a strategy. Returns `undefined` once loaded; repeated calls share one load, and try again after a failure. */
  load(): Promise<void> | undefined
  /** @throws Error before `load` has completed */
  loaded(): T
}

/** @param about what the module holds, for the error of an early use */
export function lazyModule<T>(about: string, load: () => Promise<T>): LazyModule<T> {
  let loaded: T | undefined
  let loading: Promise<void> | undefined
  const start = async () => {
    try {
      loaded = await load()
    } finally {
      loading = undefined
    }
  }
  return {
    load() {
      if (loaded !== undefined) return undefined
      loading ??= start()
      return loading
    },
    loaded() {
      if (loaded === undefined) throw new Error(`${about} are not loaded: await ready() first`)
      return loaded
    },
  }
}

/** A module that is there already. */
export function presentModule<T>(module: T): LazyModule<T> {
  return { load: () => undefined, loaded: () => module }
}
