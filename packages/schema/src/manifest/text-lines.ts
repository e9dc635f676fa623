/** A range of a text. Lines and columns count from 1, columns in UTF-16 units; the end is exclusive. */
export interface TextRange {
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
}

/** Converts offsets to lines and columns. */
export class TextLines {
  readonly #starts: number[] = [0]
  /** Number of lines before the text. */
  readonly #before: number

  constructor(text: string, before: number) {
    this.#before = before
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
  }

  range(start: number, end: number): TextRange {
    const [line, column] = this.#place(start)
    const [endLine, endColumn] = this.#place(Math.max(start, end))
    return { line, column, endLine, endColumn }
  }

  /**
   * The offset of a position; undefined for a line or column that the text does not have. A line break belongs to the line
   * that it ends.
   */
  offset(line: number, column: number): number | undefined {
    const start = this.#starts[line - this.#before - 1]
    if (start === undefined || column < 1) return undefined
    const next = this.#starts[line - this.#before] ?? Number.POSITIVE_INFINITY
    const offset = start + column - 1
    return offset < next ? offset : undefined
  }

  #place(offset: number): readonly [line: number, column: number] {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#starts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    return [this.#before + low + 1, offset - (this.#starts[low] as number) + 1]
  }
}
