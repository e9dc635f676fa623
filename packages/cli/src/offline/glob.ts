/** Patterns of paths: `*` and `?` within a name, `**` across folders, `{a,b}` for alternatives. */

/** Longest pattern. */
const maxLength = 1000

/** Whether a text has characters of a pattern. */
export function isGlob(text: string): boolean {
  return /[*?{]/.test(text)
}

/** The folder that contains all paths that a pattern matches. */
export function folderOfGlob(pattern: string): string {
  const steps = pattern.split('/')
  const folder = steps.slice(0, steps.findIndex(isGlob)).join('/')
  return folder === '' ? (pattern.startsWith('/') ? '/' : '.') : folder
}

/**
 * A test for paths. A pattern without a slash matches names at any depth; one that matches a folder matches everything below it.
 *
 * @throws RangeError for a pattern that is too long
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  if (pattern.length > maxLength) throw new RangeError(`a pattern is longer than ${maxLength} characters`)
  const plain = withoutDot(pattern).replace(/\/+$/, '')
  const start = plain.includes('/') ? '^' : '(?:^|/)'
  const expression = new RegExp(`${start}${plain.replace(/\*\*\/|\*\*|[*?{},.+^$()|[\]\\]/g, translated)}(?:/|$)`)
  return (path) => expression.test(withoutDot(path.replaceAll('\\', '/')))
}

function withoutDot(path: string): string {
  return path.replace(/^(?:\.\/+)+/, '')
}

const special: Readonly<Record<string, string>> = {
  '**/': '(?:[^/]*/)*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
  '{': '(?:',
  '}': ')',
  ',': '|',
}

function translated(found: string): string {
  return special[found] ?? `\\${found}`
}
