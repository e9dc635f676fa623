/** What two texts have in common, line by line. */

export interface DiffLine {
  /** `@` stands for lines that are left out because both texts have them. */
  readonly mark: ' ' | '+' | '-' | '@'
  readonly text: string
}

/** Lines around a change that are shown. */
const context = 2
/** Beyond so many comparisons everything counts as changed. */
const budget = 4_000_000

/** The shortest way from one text to the other. */
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
  // Longest common subsequence of what is left, from the back.
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

/** Without the lines that are far from any change. */
function shortened(lines: readonly DiffLine[]): DiffLine[] {
  const near = lines.map(() => false)
  lines.forEach(({ mark }, index) => {
    if (mark !== ' ')
      for (let at = Math.max(0, index - context); at <= Math.min(lines.length - 1, index + context); at++) near[at] = true
  })
  const kept: DiffLine[] = []
  let left = 0
  const mention = () => {
    if (left > 0) kept.push({ mark: '@', text: left === 1 ? '1 line' : `${left} lines` })
    left = 0
  }
  lines.forEach((line, index) => {
    if (!near[index]) {
      left++
      return
    }
    mention()
    kept.push(line)
  })
  mention()
  return kept
}
