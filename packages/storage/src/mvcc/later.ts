/** Calls `fn` once on a later turn of the event loop, as soon as that turn comes. */
export function later(fn: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(fn)
  else setTimeout(fn, 0)
}
