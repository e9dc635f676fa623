/** A line diff of two texts. */

export interface DiffLine {
  /** `@` replaces omitted common lines. */
  readonly mark: ' ' | '+' | '-' | '@'
  readonly text: string
}

/** Number of common lines shown around a change. */
const context = 2
/** Maximum number of comparisons; above it, all lines count as changed. */
const budget = 4_000_000

/** Computes the shortest edit script from one text to the other. */
export function lineDiff(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const lines: DiffLine[] = [
    ...same(before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ]
  return shortened(lines)
}

function same(texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ mark: ' ', text }))
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length * after.length > budget) {
    return [...before.map((text): DiffLine => ({ mark: '-', text })), ...after.map((text): DiffLine => ({ mark: '+', text }))]
  }
  // Lengths of longest common subsequences, computed from the end.
  const width = after.length + 1
  const common = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const [next, below, right] = [common[(i + 1) * width + j + 1], common[(i + 1) * width + j], common[i * width + j + 1]]
      common[i * width + j] = before[i] === after[j] ? (next as number) + 1 : Math.max(below as number, right as number)
    }
  }
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ mark: ' ', text: before[i++] as string })
      j++
    } else if (
      j >= after.length ||
      (i < before.length && (common[(i + 1) * width + j] as number) >= (common[i * width + j + 1] as number))
    ) {
      lines.push({ mark: '-', text: before[i++] as string })
    } else lines.push({ mark: '+', text: after[j++] as string })
  }
  return lines
}

/** Replaces common lines far from any change by a mark. */
function shortened(lines: readonly DiffLine[]): DiffLine[] {
  const near = lines.map(() => false)
  lines.forEach(({ mark }, index) => {
    if (mark !== ' ')
      for (let at = Math.max(0, index - context); at <= Math.min(lines.length - 1, index + context); at++) near[at] = true
  })
  const kept: DiffLine[] = []
  let omitted = 0
  const pushMark = () => {
    if (omitted > 0) kept.push({ mark: '@', text: omitted === 1 ? '1 line' : `${omitted} lines` })
    omitted = 0
  }
  lines.forEach((line, index) => {
    if (!near[index]) {
      omitted++
      return
    }
    pushMark()
    kept.push(line)
  })
  pushMark()
  return kept
}
