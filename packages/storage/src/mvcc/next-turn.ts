/** Calls `fn` on the next turn of the event loop. */
export function onNextTurn(fn: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(fn)
  else setTimeout(fn, 0)
}
