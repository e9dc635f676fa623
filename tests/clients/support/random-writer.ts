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

interface Slot {
  readonly namespace: string
  readonly name: string
  busy: boolean
  /** The acknowledged state; absent: there is no such object. */
  state: { readonly object: Written; readonly resourceVersion: string } | undefined
}

/** A write that was acknowledged with an object. */
export interface Acknowledged {
  readonly type: 'ADDED' | 'MODIFIED'
  readonly object: Written
}

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

  /** `pens` are chosen by chance: name one several times and it is used the more. */
  constructor(options: {
    readonly dice: Dice
    readonly pens: readonly Pen[]
    readonly namespaces: readonly string[]
    readonly names: number
  }) {
    this.#dice = options.dice
    this.#pens = options.pens
    this.#slots = options.namespaces.flatMap((namespace) =>
      Array.from({ length: options.names }, (_, i) => ({ namespace, name: `object-${i}`, busy: false, state: undefined })),
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
      slot.state = this.#acknowledge('ADDED', object, await pen.create(object))
      this.counts.create++
      return
    }
    if (this.#dice.chance(25)) {
      await pen.delete({ namespace, name })
      slot.state = undefined
      this.counts.delete++
      return
    }
    const content = this.#content()
    if (this.#dice.chance(50)) {
      const object = { namespace, name, ...content }
      slot.state = this.#acknowledge('MODIFIED', object, await pen.replace(object, state.resourceVersion))
      this.counts.replace++
      return
    }
    const { labels, data } = state.object
    const merged = { namespace, name, labels: { ...labels, ...content.labels }, data: { ...data, ...content.data } }
    slot.state = this.#acknowledge('MODIFIED', merged, await pen.patch({ namespace, name, ...content }))
    this.counts.patch++
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
