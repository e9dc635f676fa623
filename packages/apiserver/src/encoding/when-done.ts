/** Calls `next` synchronously for a value, and after a promise: only large values are promises. */
export function whenDone<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
