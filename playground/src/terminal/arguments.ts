import { TerminalError } from './terminal-error.ts'

/** The words of a command line and its flags. */

export interface Arguments {
  readonly words: readonly string[]
  /** Values of flags by their long name, in order; `true` for flags without a value. */
  readonly flags: ReadonlyMap<string, readonly string[]>
}

/** Flags of one letter and their long names. */
const letters: Readonly<Record<string, string>> = {
  n: 'namespace',
  o: 'output',
  l: 'selector',
  f: 'filename',
  A: 'all-namespaces',
  w: 'watch',
  p: 'patch',
  c: 'container',
  h: 'help',
}

/** Flags that take no value of the next word. */
const switches = new Set([
  ...['all-namespaces', 'watch', 'watch-only', 'help', 'server-side', 'force-conflicts', 'all', 'overwrite', 'show-labels'],
  ...['recursive', 'list', 'ignore-not-found', 'force', 'no-headers', 'show-managed-fields', 'previous'],
])

/** Flags with a value. */
const valued = new Set([
  ...[
    'namespace',
    'output',
    'selector',
    'field-selector',
    'filename',
    'container',
    'patch',
    'type',
    'replicas',
    'field-manager',
    'as',
    'as-group',
  ],
  ...[
    'dry-run',
    'subresource',
    'from-literal',
    'image',
    'cascade',
    'grace-period',
    'validate',
    'current-replicas',
    'sort-by',
    'verb',
  ],
  ...[
    'resource',
    'role',
    'clusterrole',
    'user',
    'group',
    'serviceaccount',
    'port',
    'api-group',
    'api-version',
    'resource-version',
  ],
])

/**
 * Splits a line into words like a shell: quotes group, a backslash escapes, and nothing is expanded.
 *
 * @throws TerminalError for a quote that is not closed.
 */
export function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (let i = 0; i < line.length; i++) {
    const char = line.charAt(i)
    if (char === "'" || char === '"') {
      const [text, end] = quoted(line, i)
      word = (word ?? '') + text
      i = end
    } else if (char === '\\') word = (word ?? '') + line.charAt(++i)
    else if (!/\s/.test(char)) word = (word ?? '') + char
    else if (word !== undefined) {
      words.push(word)
      word = undefined
    }
  }
  if (word !== undefined) words.push(word)
  return words
}

/** The text in quotes that begin at `from`, and the position of the closing quote. */
function quoted(line: string, from: number): readonly [string, number] {
  const quote = line.charAt(from)
  let text = ''
  for (let i = from + 1; i < line.length; i++) {
    const char = line.charAt(i)
    if (char === quote) return [text, i]
    if (char === '\\' && quote === '"' && /["\\]/.test(line.charAt(i + 1))) text += line.charAt(++i)
    else text += char
  }
  throw new TerminalError(`the quote at column ${from + 1} is not closed`)
}

/** Sorts words into arguments and flags. @throws TerminalError for unknown flags and missing values. */
export function parseArguments(all: readonly string[]): Arguments {
  const words: string[] = []
  const flags = new Map<string, string[]>()
  const set = (name: string, value: string) => flags.set(name, [...(flags.get(name) ?? []), value])
  for (let i = 0; i < all.length; i++) {
    const word = all[i]!
    const found = /^(?:--([a-z-]+)|-([A-Za-z]))(?:=(.*))?$/s.exec(word)
    if (word === '-' || !word.startsWith('-')) words.push(word)
    else if (found === null) {
      const short = /^-([A-Za-z])(.+)$/s.exec(word)
      const name = short === null ? undefined : letters[short[1]!]
      if (short === null || name === undefined || !valued.has(name)) throw new TerminalError(`unknown flag: ${word}`)
      set(name, short[2]!)
    } else {
      const name = found[1] ?? letters[found[2]!] ?? ''
      const value = found[3]
      if (switches.has(name)) set(name, value ?? 'true')
      else if (!valued.has(name)) throw new TerminalError(`unknown flag: ${word}`)
      else if (value !== undefined) set(name, value)
      else if (i + 1 < all.length) set(name, all[++i]!)
      else throw new TerminalError(`flag needs a value: ${word}`)
    }
  }
  return { words, flags }
}

/** The last value of a flag. */
export function flagOf({ flags }: Arguments, name: string): string | undefined {
  return flags.get(name)?.at(-1)
}

export function isSet(given: Arguments, name: string): boolean {
  const value = flagOf(given, name)
  return value !== undefined && value !== 'false'
}
