import type { Dice } from './dice.ts'

/** What a writer writes: a ConfigMap cut down to what changes. */
export interface Written {
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly data: Readonly<Record<string, string>>
}

/** Ways to write; each resolves with the resourceVersion of the acknowledged object. */
export interface Pen {
  create(object: Written): Promise<string>
  /** With the version that must be there. */
  replace(object: Written, resourceVersion: string): Promise<string>
  /** A merge patch of `data` and `labels`. */
  patch(object: Written): Promise<string>
  delete(at: { readonly namespace: string; readonly name: string }): Promise<void>
}

/** The acknowledged state; absent: there is no such object. */
type State = { readonly object: Written; readonly resourceVersion: string } | undefined

interface Slot {
  readonly namespace: string
  readonly name: string
  busy: boolean
  state: State
  /** A write whose answer never came: it happened or it did not. */
  unsure: { readonly object: Written | undefined } | undefined
}

/** A write that was acknowledged with an object. */
export interface Acknowledged {
  readonly type: 'ADDED' | 'MODIFIED'
  readonly object: Written
}

export interface RandomWriterOptions {
  readonly dice: Dice
  /** Chosen by chance: name one several times and it is used the more. */
  readonly pens: readonly Pen[]
  readonly namespaces: readonly string[]
  /** Names in each namespace. */
  readonly names: number
  /** Whether a failure leaves open if the write happened. Default: none does. */
  readonly unanswered?: (error: unknown) => boolean
}

class InDoubt extends Error {}

/**
 * Random writes over a fixed set of names. One write at a time to a name, several names at a time, so that what was
 * acknowledged is exactly what must be there.
 */
export class RandomWriter {
  /** By resourceVersion. Deletions are not among them: their answer does not tell the version. */
  readonly log = new Map<string, Acknowledged>()
  readonly counts = { create: 0, replace: 0, patch: 0, delete: 0 }
  readonly #slots: Slot[]
  readonly #dice: Dice
  readonly #pens: readonly Pen[]
  readonly #unanswered: (error: unknown) => boolean

  constructor(options: RandomWriterOptions) {
    this.#unanswered = options.unanswered ?? (() => false)
    this.#dice = options.dice
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

  /** Objects that must be there, by `namespace/name`. */
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
   * Writes until `signal` aborts, or until the server is gone: then the writes under way are in doubt, and `reconcile` must
   * settle them before the next write.
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
   * Compares what is there with what was acknowledged, and learns how the writes in doubt ended.
   *
   * @returns what is wrong; empty when everything acknowledged is there, and nothing else.
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

  /** How many writes are in doubt. */
  get doubts(): number {
    return this.#slots.filter(({ unsure }) => unsure !== undefined).length
  }

  /** To be called when a collection was deleted while nothing was being written. */
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
    const slot = this.#dice.pick(free)
    const pen = this.#dice.pick(this.#pens)
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
    if (this.#dice.chance(25)) {
      await this.#try(slot, undefined, () => pen.delete({ namespace, name }))
      slot.state = undefined
      this.counts.delete++
      return
    }
    const content = this.#content()
    if (this.#dice.chance(50)) {
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

  /** @throws InDoubt when there was no answer. */
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
      labels: { side: this.#dice.pick(['left', 'right']) },
      // A value of its own each time, so that no write leaves an object as it was.
      data: { [this.#dice.pick(['a', 'b', 'c'])]: `${this.#dice.below(2 ** 31)}`, text: 'é\n"' },
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
