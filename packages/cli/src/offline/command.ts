import { printableLines } from 'krmkit/validate'
import { Option } from '../commander.ts'
import { exitCodes, type Terminal } from './terminal.ts'

/** Helpers shared by all commands except `serve`. */

export function colorOption(): Option {
  return new Option('--color <when>', 'colored output').choices(['auto', 'always', 'never']).default('auto')
}

export function exitCodeHelp(fine: string, findings: string): string {
  return `\nExit codes: 0 ${fine}; 1 ${findings}; 2 invalid flags or unreadable files.`
}

/** Runs a command and sets the exit code. Errors are printed. */
export async function runToExitCode(terminal: Terminal, run: () => Promise<number>): Promise<void> {
  try {
    terminal.exit(await run())
  } catch (error) {
    terminal.err(`${terminal.paint('err', 'auto').red('krmkit:')} ${printableLines(errorText(error))}\n`)
    terminal.exit(exitCodes.failure)
  }
}

/** The message of an error with a code; the stack of any other error, which is a bug. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.message : (error.stack ?? error.message)
}
