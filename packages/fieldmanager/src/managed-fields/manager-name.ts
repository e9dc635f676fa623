import { isPrintable, utf8Length } from '@krmkit/meta/go-text'
import { maxFieldManagerLength } from '@krmkit/meta/validation'

/**
 * The manager of a write: the `fieldManager` parameter, or without it the User-Agent up to the first slash, without unprintable characters
 * and truncated to 128 bytes. Empty when both are empty.
 *
 * @example
 * ```ts
 * import { managerName } from '@krmkit/fieldmanager'
 *
 * managerName(undefined, 'kubectl/v1.33.0 (linux/amd64)') // 'kubectl'
 * ```
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
