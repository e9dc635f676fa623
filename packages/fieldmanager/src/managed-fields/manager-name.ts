import { isPrintable, maxFieldManagerLength, utf8Length } from '@krmkit/meta'

/**
 * The manager of a write: what the client says, or else its User-Agent up to the first slash, printable characters only, at
 * most 128 bytes. Empty when neither says anything.
 */
export function managerName(fieldManager: string | undefined, userAgent: string | undefined): string {
  if (fieldManager !== undefined && fieldManager !== '') return fieldManager
  const [prefix = ''] = (userAgent ?? '').split('/', 1)
  if (plain.test(prefix)) return prefix.slice(0, maxFieldManagerLength)
  let name = ''
  let size = 0
  for (const char of prefix) {
    if (!isPrintable(char)) continue
    size += utf8Length(char)
    if (size > maxFieldManagerLength) break
    name += char
  }
  return name
}

const plain = /^[ -~]*$/
