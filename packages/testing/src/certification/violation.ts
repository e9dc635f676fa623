/** Thrown when the client under test violates a scenario. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

/** Thrown when the scenario does not apply to the client under test. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

/** @throws Violation unless the condition holds */
export function require(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new Violation(message())
}

/** Waits without keeping the process alive longer than needed. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

/** Waits until a condition holds. @returns whether it held before the timeout */
export async function eventually(condition: () => boolean | Promise<boolean>, patienceMs: number): Promise<boolean> {
  const endMs = performance.now() + patienceMs
  for (;;) {
    if (await condition()) return true
    if (performance.now() > endMs) return false
    await pause(25)
  }
}

/** Waits for a promise with a timeout. @throws Violation */
export async function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Violation(`${what} did not end within ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
