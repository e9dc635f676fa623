/**
 * Trees of lines, with the releases that have each line. A text has one line per node, indented by one space per level:
 *
 *     apps
 *      /v1 k8s.io/api/apps/v1
 *       type DeploymentSpec
 *        replicas?*:i;n1
 *        34-36 added?:s;n9          in 1.34 to 1.36
 *        35- newest?:s;n10          since 1.35
 *        -33 removed?:s;n4          until 1.33
 *
 * A line without a range is in every release that has the line above it. A line that changes ends, and the new one follows it.
 */

/** A line of one release. */
export interface Line {
  readonly text: string
  readonly lines: readonly Line[]
}

/** A line of all releases; `since` and `until` are the minor numbers of the first and last one with it, where the line above has others. */
export interface DatedLine {
  readonly text: string
  readonly since?: number
  readonly until?: number
  readonly lines: readonly DatedLine[]
}

export const line = (text: string, lines: readonly Line[] = []): Line => ({ text, lines })

/** The lines of a release. */
export function linesAt(lines: readonly DatedLine[], minor: number): Line[] {
  return lines
    .filter(({ since = minor, until = minor }) => since <= minor && minor <= until)
    .map(({ text, lines: below }) => line(text, linesAt(below, minor)))
}

/**
 * Adds the lines of a release that follows the newest one of the tree.
 *
 * @param minor of the added release; undefined for the first one, whose lines get no range.
 */
export function fold(lines: readonly DatedLine[], added: readonly Line[], minor: number | undefined): DatedLine[] {
  const isLive = ({ until }: DatedLine) => until === undefined
  const live = lines.filter(isLive)
  const matches = longestMatch(live, added)
  const folded: DatedLine[] = []
  let next = 0
  const insertBefore = (end: number) => {
    for (; next < end; next++) {
      const { text, lines: below } = added[next]!
      folded.push({ text, ...(minor === undefined ? {} : { since: minor }), lines: fold([], below, undefined) })
    }
  }
  for (const each of lines) {
    const match = isLive(each) ? matches.get(each) : undefined
    if (match !== undefined) {
      insertBefore(match)
      folded.push({ ...each, lines: fold(each.lines, added[match]!.lines, minor) })
      next = match + 1
    } else folded.push(isLive(each) ? { ...each, until: minor! - 1 } : each)
  }
  insertBefore(added.length)
  return folded
}

/** Removes the newest release: the inverse of {@link fold}. */
export function unfold(lines: readonly DatedLine[], newest: number): DatedLine[] {
  return lines
    .filter(({ since }) => since !== newest)
    .map(({ until, ...each }) => ({
      ...each,
      ...(until === undefined || until === newest - 1 ? {} : { until }),
      lines: unfold(each.lines, newest),
    }))
}

/** The longest common subsequence by text: positions in `added` by line of `live`. */
function longestMatch(live: readonly DatedLine[], added: readonly Line[]): Map<DatedLine, number> {
  const isSame = (i: number, j: number) => live[i]!.text === added[j]!.text
  const matches = new Map<DatedLine, number>()
  let start = 0
  while (start < live.length && start < added.length && isSame(start, start)) matches.set(live[start]!, start++)
  let [end, addedEnd] = [live.length, added.length]
  while (end > start && addedEnd > start && isSame(end - 1, addedEnd - 1)) matches.set(live[--end]!, --addedEnd)
  const width = addedEnd - start + 1
  const lengths = new Uint16Array((end - start + 1) * width)
  const at = (i: number, j: number) => (i - start) * width + j - start
  for (let i = end - 1; i >= start; i--) {
    for (let j = addedEnd - 1; j >= start; j--) {
      const longer = Math.max(lengths[at(i + 1, j)]!, lengths[at(i, j + 1)]!)
      lengths[at(i, j)] = isSame(i, j) ? lengths[at(i + 1, j + 1)]! + 1 : longer
    }
  }
  for (let i = start, j = start; i < end && j < addedEnd; ) {
    if (isSame(i, j)) matches.set(live[i++]!, j++)
    else if (lengths[at(i + 1, j)]! >= lengths[at(i, j + 1)]!) i++
    else j++
  }
  return matches
}

const range = /^(?=\d|-\d)(\d{2})?-(\d{2})? /

export function printTree(lines: readonly DatedLine[], indent = ''): string {
  return lines
    .map(({ text, since, until, lines: below }) => {
      if (text === '' || text.startsWith(' ') || text.includes('\n') || range.test(text)) {
        throw new Error(`${JSON.stringify(text)} cannot be a line`)
      }
      const dates = since === undefined && until === undefined ? '' : `${since ?? ''}-${until ?? ''} `
      return `${indent}${dates}${text}\n${printTree(below, `${indent} `)}`
    })
    .join('')
}

interface OpenLine {
  readonly text: string
  readonly since?: number
  readonly until?: number
  readonly lines: OpenLine[]
}

export function parseTree(text: string): DatedLine[] {
  const root: OpenLine = { text: '', lines: [] }
  const above: OpenLine[] = [root]
  for (const each of text.split('\n')) {
    if (each === '') continue
    const content = each.trimStart()
    const depth = each.length - content.length
    const [dates = '', since, until] = range.exec(content) ?? []
    const node: OpenLine = {
      text: content.slice(dates.length),
      ...(since === undefined ? {} : { since: Number(since) }),
      ...(until === undefined ? {} : { until: Number(until) }),
      lines: [],
    }
    const parent = above[depth]
    if (parent === undefined) throw new Error(`the line ${JSON.stringify(content)} is indented too far`)
    parent.lines.push(node)
    above.splice(depth + 1, above.length, node)
  }
  return root.lines
}
