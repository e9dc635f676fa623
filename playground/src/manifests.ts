import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { readManifest } from '@krmkit/schema/manifest'
import { objectsOf } from 'krmkit/validate'
import { TerminalError } from './terminal/terminal-error.ts'

/**
 * Parses the objects of a text; lists are replaced by their items.
 *
 * @throws TerminalError with line and column for text that is neither YAML nor JSON, and for values that are not objects.
 */
export function manifestObjects(text: string): JsonObject[] {
  return readManifest(text).flatMap((document) => {
    if (document.kind === 'error') {
      const { line, column } = document.range
      throw new TerminalError(`editor:${line}:${column}: ${document.message}`)
    }
    return objectsOf(document).flatMap(({ value }) => {
      if (value === null) return []
      if (!isJsonObject(value)) throw new TerminalError('editor: a document is not an object')
      return [value]
    })
  })
}
