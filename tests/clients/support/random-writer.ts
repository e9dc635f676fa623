import type { RandomChoices } from '@krmkit/base/random-choices'

/** A ConfigMap reduced to its changing members. */
export interface Written {
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly data: Readonly<Record<string, string>>
}

/** Write operations; each resolves with the resourceVersion of the acknowledged object. */
export interface Pen {
  create(object: Written): Promise<string>
  /** With a resourceVersion precondition. */
  replace(object: Written, resourceVersion: string): Promise<string>
  /** A merge patch of `data` and `labels`. */
  patch(object: Written): Promise<string>
  delete(at: { readonly namespace: string; readonly name: string }): Promise<void>
}

/** The acknowledged state; absent: the object does not exist. */
type State = { readonly object: Written; readonly resourceVersion: string } | undefined

interface Slot {
  readonly namespace: string
  readonly name: string
  busy: boolean
  state: State
  /** A write without a response, whose outcome is unknown. */
  unsure: { readonly object: Written | undefined } | undefined
}

/** A write that was acknowledged with an object. */
export interface Acknowledged {
  readonly type: 'ADDED' | 'MODIFIED'
  readonly object: Written
}

export interface RandomWriterOptions {
  readonly random: RandomChoices
  /** Chosen at random; repeat an operation to use it more often. */
  readonly pens: readonly Pen[]
  readonly namespaces: readonly string[]
  /** Number of names per namespace. */
  readonly names: number
  /** Whether a failure leaves the outcome unknown. Default: never. */
  readonly unanswered?: (error: unknown) => boolean
}

class InDoubt extends Error {}

/**
 * Random writes over a fixed set of names: one write per name at a time, several names concurrently, so that the acknowledged state
 * is the exact expected state.
 */
export class RandomWriter {
  /** By resourceVersion, without deletions, whose responses have no version. */
  readonly log = new Map<string, Acknowledged>()
  readonly counts = { create: 0, replace: 0, patch: 0, delete: 0 }
  readonly #slots: Slot[]
  readonly #random: RandomChoices
  readonly #pens: readonly Pen[]
  readonly #unanswered: (error: unknown) => boolean

  constructor(options: RandomWriterOptions) {
    this.#unanswered = options.unanswered ?? (() => false)
    this.#random = options.random
    this.#pens = options.pens
    this.#slots = options.namespaces.flatMap((namespace) =>
      Array.from({ length: options.names }, (_, i) => ({
        namespace,
        name: `object-${i}`,
        busy: false,
        state: undefined,
        unsure: undefined,
      })),
    )
  }

  /** The expected objects, by `namespace/name`. */
  expected(): Map<string, { readonly object: Written; readonly resourceVersion: string }> {
    return new Map(
      this.#slots.flatMap(({ namespace, name, state }) =>
        state === undefined ? [] : [[`${namespace}/${name}`, state] as const],
      ),
    )
  }

  /** Makes `count` writes, `parallel` at a time. */
  async write(count: number, parallel: number): Promise<void> {
    let left = count
    await Promise.all(
      Array.from({ length: parallel }, async () => {
        while (left-- > 0) await this.#one()
      }),
    )
  }

  /**
   * Writes until `signal` aborts or the server stops; then pending writes have an unknown outcome, which `reconcile` must
   * settle before the next write.
   */
  async writeUntil(signal: AbortSignal, parallel: number): Promise<void> {
    let gone = false
    await Promise.all(
      Array.from({ length: parallel }, async () => {
        while (!signal.aborted && !gone) {
          await this.#one().catch((error: unknown) => {
            if (!(error instanceof InDoubt)) throw error
            gone = true
          })
        }
      }),
    )
  }

  /**
   * Compares the stored with the acknowledged state, and determines the outcome of unknown writes.
   *
   * @returns the differences; empty when the state is exactly as acknowledged.
   */
  reconcile(actual: ReadonlyMap<string, { readonly object: Written; readonly resourceVersion: string }>): string[] {
    const wrong: string[] = []
    const unknown = new Set(actual.keys())
    for (const slot of this.#slots) {
      const key = `${slot.namespace}/${slot.name}`
      unknown.delete(key)
      const found = actual.get(key)
      const asAcknowledged =
        found?.resourceVersion === slot.state?.resourceVersion && sameContent(found?.object, slot.state?.object)
      const asTried = slot.unsure !== undefined && sameContent(found?.object, slot.unsure.object)
      if (!asAcknowledged && !asTried)
        wrong.push(`${key} is ${JSON.stringify(found)}, acknowledged was ${JSON.stringify(slot.state)}`)
      slot.state = found
      slot.unsure = undefined
    }
    return [...wrong, ...[...unknown].map((key) => `${key} was never written`)]
  }

  /** Number of writes with unknown outcome. */
  get doubts(): number {
    return this.#slots.filter(({ unsure }) => unsure !== undefined).length
  }

  /** Call this after deleting a collection while no write is pending. */
  forget(matches: (object: Written) => boolean): number {
    let count = 0
    for (const slot of this.#slots) {
      if (slot.state === undefined || !matches(slot.state.object)) continue
      slot.state = undefined
      count++
    }
    return count
  }

  async #one(): Promise<void> {
    const free = this.#slots.filter(({ busy }) => !busy)
    const slot = this.#random.pick(free)
    const pen = this.#random.pick(this.#pens)
    slot.busy = true
    try {
      await this.#change(slot, pen)
    } finally {
      slot.busy = false
    }
  }

  async #change(slot: Slot, pen: Pen): Promise<void> {
    const { namespace, name, state } = slot
    if (state === undefined) {
      const object = { namespace, name, ...this.#content() }
      slot.state = this.#acknowledge('ADDED', object, await this.#try(slot, object, () => pen.create(object)))
      this.counts.create++
      return
    }
    if (this.#random.chance(25)) {
      await this.#try(slot, undefined, () => pen.delete({ namespace, name }))
      slot.state = undefined
      this.counts.delete++
      return
    }
    const content = this.#content()
    if (this.#random.chance(50)) {
      const object = { namespace, name, ...content }
      const version = await this.#try(slot, object, () => pen.replace(object, state.resourceVersion))
      slot.state = this.#acknowledge('MODIFIED', object, version)
      this.counts.replace++
      return
    }
    const { labels, data } = state.object
    const merged = { namespace, name, labels: { ...labels, ...content.labels }, data: { ...data, ...content.data } }
    const version = await this.#try(slot, merged, () => pen.patch({ namespace, name, ...content }))
    slot.state = this.#acknowledge('MODIFIED', merged, version)
    this.counts.patch++
  }

  /** @throws InDoubt without a response. */
  async #try<T>(slot: Slot, object: Written | undefined, write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (error) {
      if (!this.#unanswered(error)) throw error
      slot.unsure = { object }
      throw new InDoubt()
    }
  }

  #acknowledge(type: Acknowledged['type'], object: Written, resourceVersion: string) {
    if (this.log.has(resourceVersion)) throw new Error(`two writes were acknowledged as version ${resourceVersion}`)
    this.log.set(resourceVersion, { type, object })
    return { object, resourceVersion }
  }

  #content(): Pick<Written, 'labels' | 'data'> {
    return {
      labels: { side: this.#random.pick(['left', 'right']) },
      // A new value each time, so that every write changes the object.
      data: { [this.#random.pick(['a', 'b', 'c'])]: `${this.#random.below(2 ** 31)}`, text: 'é\n"' },
    }
  }
}

function sameContent(a: Written | undefined, b: Written | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && sameRecord(a.labels, b.labels) && sameRecord(a.data, b.data))
}

function sameRecord(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}
