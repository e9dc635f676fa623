/** The effect of a command, derived from its text. */
export interface CommandCourse {
  /** Infinity for a command that does not end. */
  readonly durationMs: number
  readonly exitCode: number
  /** What the command writes to its standard output. */
  readonly output: string
}

interface Step {
  /** The previous exit status that this step requires. Absent: any. */
  readonly after?: 'success' | 'failure'
  readonly words: readonly string[]
}

const shells: ReadonlySet<string> = new Set(['sh', 'ash', 'bash', 'dash'])
const separators: Readonly<Record<string, Pick<Step, 'after'>>> = {
  ';': {},
  '\n': {},
  '&&': { after: 'success' },
  '||': { after: 'failure' },
}
const unitsMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Matches a separator, a quoted word, or a word. All other shell syntax is not plain. */
const tokenPattern = /(;|\n|&&|\|\|)|'([^']*)'|"([^"$`\\]*)"|([\w./:,+@%^-]+)/y

/**
 * Returns the course of a command that consists of `sleep`, `echo`, `true`, `false` and `exit`, alone or as a script of a shell, joined by
 * `;`, line ends, `&&` and `||`; undefined for all others.
 */
export function plainCommand(command: readonly string[]): CommandCourse | undefined {
  const [program, flag, script] = command
  if (program === undefined) return undefined
  if (!shells.has(baseName(program))) return courseOf([{ words: command }], false)
  const steps = flag === '-c' && script !== undefined ? stepsOf(script) : undefined
  return steps === undefined ? undefined : courseOf(steps, true)
}

function courseOf(steps: readonly Step[], isScript: boolean): CommandCourse | undefined {
  let course: CommandCourse = { durationMs: 0, exitCode: 0, output: '' }
  for (const { after, words } of steps) {
    if (after !== undefined && (after === 'success') !== (course.exitCode === 0)) continue
    const [program = '', ...args] = words
    if (isScript && program === 'exit') {
      const exitCode = args.length === 0 ? course.exitCode : exitCodeOf(args)
      return exitCode === undefined ? undefined : { ...course, exitCode }
    }
    const step = run(baseName(program), args)
    if (step === undefined) return undefined
    course = {
      durationMs: course.durationMs + step.durationMs,
      exitCode: step.exitCode,
      output: course.output + step.output,
    }
  }
  return course
}

function run(program: string, args: readonly string[]): CommandCourse | undefined {
  switch (program) {
    case 'true':
      return { durationMs: 0, exitCode: 0, output: '' }
    case 'false':
      return { durationMs: 0, exitCode: 1, output: '' }
    case 'echo':
      return { durationMs: 0, exitCode: 0, output: args[0] === '-n' ? args.slice(1).join(' ') : `${args.join(' ')}\n` }
    case 'sleep':
      return sleep(args)
    default:
      return undefined
  }
}

function sleep(args: readonly string[]): CommandCourse | undefined {
  const durationMs = args.map(sleepMs).reduce((sum, ms) => sum + ms, 0)
  return args.length === 0 || Number.isNaN(durationMs) ? undefined : { durationMs, exitCode: 0, output: '' }
}

/** @returns NaN for an invalid duration */
function sleepMs(text: string): number {
  if (text === 'infinity' || text === 'inf') return Number.POSITIVE_INFINITY
  const match = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text)
  return match === null ? Number.NaN : Number(match[1]) * (unitsMs[match[2] || 's'] ?? Number.NaN)
}

function exitCodeOf(args: readonly string[]): number | undefined {
  return args.length === 1 && /^\d{1,3}$/.test(args[0] ?? '') ? Number(args[0]) & 255 : undefined
}

/** Splits a script into commands; undefined when it contains anything but words and separators. */
function stepsOf(script: string): readonly Step[] | undefined {
  const text = script.replace(/^[ \t]*#.*$/gm, '').trim()
  const steps: { after?: 'success' | 'failure'; words: string[] }[] = [{ words: [] }]
  let isWordOpen = false
  for (let at = 0; at < text.length; ) {
    if (text[at] === ' ' || text[at] === '\t') {
      isWordOpen = false
      at++
      continue
    }
    tokenPattern.lastIndex = at
    const token = tokenPattern.exec(text)
    if (token === null) return undefined
    at = tokenPattern.lastIndex
    const [, separator, single, double, bare] = token
    const words = steps.at(-1)?.words ?? []
    if (separator === undefined) {
      const part = single ?? double ?? bare ?? ''
      if (isWordOpen) words.push(`${words.pop() ?? ''}${part}`)
      else words.push(part)
      isWordOpen = true
      continue
    }
    isWordOpen = false
    if (words.length > 0) steps.push({ ...separators[separator], words: [] })
    else if (separator !== '\n') return undefined
  }
  const found = steps.filter(({ words }) => words.length > 0)
  return found.length === 0 ? undefined : found
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
