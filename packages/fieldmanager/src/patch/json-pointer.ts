/**
 * The steps of a JSON pointer; `undefined` for the pointer to the whole document and for one without a slash. As on kube-apiserver, text
 * before the first slash is ignored.
 *
 * @see RFC 6901
 */
export function stepsOf(pointer: string): string[] | undefined {
  const slash = pointer.indexOf('/')
  return slash < 0
    ? undefined
    : pointer
        .slice(slash + 1)
        .split('/')
        .map(unescapeStep)
}

function unescapeStep(step: string): string {
  return step.includes('~') ? step.replaceAll('~1', '/').replaceAll('~0', '~') : step
}

/** The position in a list. Negative positions count from the end, or from after the end when adding. */
export function positionOf(step: string, length: number, adding: boolean): number | undefined {
  if (step === '-') return adding ? length : undefined
  if (!/^[+-]?[0-9]{1,18}$/.test(step)) return undefined
  const size = adding ? length + 1 : length
  const position = Number(step)
  const index = position < 0 ? size + position : position
  return index >= 0 && index < size ? index : undefined
}
