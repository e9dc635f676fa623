import { RandomChoices } from '@krmkit/base/random-choices'
import type { Gate } from './faults.ts'
import { checkKind } from './option-kinds.ts'
import { TestingError } from './testing-error.ts'

/** A step of an order: which held request or event was released. */
export interface OrderStep {
  /** `update configmaps default/a by bob`, `deliver ADDED Secret b to watch 1 of secrets by bob` */
  readonly label: string
  /** Number of earlier held ones that it overtook. */
  readonly overtaken: number
}

/** Chooses the index of the held request or event to release next. Index 0 was held first. */
export type Choose = (held: number, step: number) => number

/** Number of overtaken ones by step: the deviations from the order of arrival. */
export type Deviations = ReadonlyMap<number, number>

export interface EventOrderOptions {
  readonly choose: Choose
  /** Resolves when nothing more happens until the next step. */
  readonly quiet: () => Promise<void>
  readonly maxSteps: number
}

/**
 * Holds requests and watch events, and releases them one by one, each after the effects of the previous one have ended.
 *
 *     held --chosen--> goes on --quiet--> the next is chosen
 */
export class EventOrder implements Gate {
  readonly steps: OrderStep[] = []
  readonly #options: EventOrderOptions
  readonly #held: { readonly label: string; readonly release: () => void }[] = []
  #stepping: Promise<void> | undefined
  #isOpen = false

  constructor(options: EventOrderOptions) {
    this.#options = options
  }

  hold(label: string): Promise<void> {
    if (this.#isOpen) return Promise.resolve()
    return new Promise((release) => {
      this.#held.push({ label, release })
      this.#stepping ??= this.#run()
    })
  }

  stepped(): Promise<void> | undefined {
    return this.#stepping
  }

  /** Releases everything, and holds nothing from now on. */
  open(): void {
    this.#isOpen = true
    for (const { release } of this.#held.splice(0)) release()
  }

  /** The deviations so far. */
  get deviations(): Deviations {
    return new Map(
      [...this.steps.entries()].flatMap(([step, { overtaken }]) => (overtaken > 0 ? [[step, overtaken] as const] : [])),
    )
  }

  async #run(): Promise<void> {
    while (this.#held.length > 0) {
      await this.#options.quiet()
      const { length } = this.#held
      if (length === 0) break
      const chosen = Math.min(length - 1, this.#options.choose(length, this.steps.length))
      const [next] = this.#held.splice(chosen, 1)
      if (next === undefined) break
      this.steps.push({ label: next.label, overtaken: chosen })
      if (this.steps.length >= this.#options.maxSteps) this.open()
      next.release()
    }
    this.#stepping = undefined
  }
}

/** Chooses at random. The seed also determines how often the order deviates from the order of arrival. */
export function randomOrder(seed: number): Choose {
  const random = new RandomChoices(seed)
  const percent = random.pick([5, 20, 50, 100])
  return (held) => (held > 1 && random.chance(percent) ? random.below(held) : 0)
}

export function givenOrder(deviations: Deviations): Choose {
  return (_, step) => deviations.get(step) ?? 0
}

/** Formats an order: `3:1,7:2` - at step 3 one was overtaken, at step 7 two were. */
export function formatOrder(deviations: Deviations): string {
  return [...deviations].map(([step, overtaken]) => `${step}:${overtaken}`).join(',')
}

/** @throws TestingError `InvalidOrder` */
export function parseOrder(order: string): Deviations {
  checkKind('order', order, 'text')
  if (order === '') return new Map()
  return new Map(
    order.split(',').map((part) => {
      const [, step, overtaken] = /^(\d+):([1-9]\d*)$/.exec(part) ?? []
      if (step === undefined) {
        throw new TestingError({ code: 'InvalidOrder', message: `${JSON.stringify(order)} is not an order such as "3:1,7:2"` })
      }
      return [Number(step), Number(overtaken)] as const
    }),
  )
}

/**
 * Shrinks a failing order: removes deviations, first many at once and then one by one, and reduces the others, as long as it
 * still fails.
 *
 * @param fails runs an order; resolves to the actual deviations if it fails, or else to undefined
 */
export async function shrinkOrder(
  deviations: Deviations,
  fails: (deviations: Deviations) => Promise<Deviations | undefined>,
): Promise<Deviations> {
  let best = deviations
  for (let size = best.size; size >= 1; size = size === 1 && best.size > 0 ? 0 : Math.floor(size / 2)) {
    for (let at = 0; at < best.size; ) {
      const rest = [...best].filter((_, i) => i < at || i >= at + size)
      const failed = await fails(new Map(rest))
      if (failed === undefined || failed.size >= best.size) at += size
      else best = failed
    }
  }
  for (const step of best.keys()) {
    for (let overtaken = 1; overtaken < (best.get(step) ?? 0); overtaken++) {
      const smaller = new Map(best).set(step, overtaken)
      if ((await fails(smaller)) === undefined) continue
      best = smaller
      break
    }
  }
  return best
}
