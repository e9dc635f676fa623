/**
 * How much more something costs at eight times the size: about 8 where it is linear, 64 where it is a product. The least of some
 * runs is taken, so that other work on the machine hardly counts; tests leave a wide margin.
 *
 * @param make prepares a size and returns what is measured.
 */
export function growth(make: (n: number) => () => unknown, size = 1500): number {
  const small = make(size)
  const large = make(8 * size)
  large()
  small()
  return least(large) / least(small)
}

/** Growth below this is no product. */
export const linear = 36

function least(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 5; i++) {
    const from = performance.now()
    run()
    best = Math.min(best, performance.now() - from)
  }
  return best
}

/** Runs a generator to its end and counts how often it may be interrupted. */
export function runCounted<T>(work: Generator<void, T>): { value: T; steps: number } {
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next()
    if (done === true) return { value, steps }
  }
}
