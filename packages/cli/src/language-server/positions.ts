import type { TextRange } from '@krmkit/schema/manifest'
import type { Range } from './connection.ts'

/** A range of the protocol, which counts from 0. Both count UTF-16 units. */
export function toRange({ line, column, endLine, endColumn }: TextRange): Range {
  return { start: { line: line - 1, character: column - 1 }, end: { line: endLine - 1, character: endColumn - 1 } }
}
