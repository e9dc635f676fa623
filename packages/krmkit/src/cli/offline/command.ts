import { Option } from '../commander.ts'
import { exitCodes, type Terminal } from './terminal.ts'

/** What the offline commands have in common on the command line. */

export function colorOption(): Option {
  return new Option('--color <when>', 'colours').choices(['auto', 'always', 'never']).default('auto')
}

export function exitCodeHelp(fine: string, findings: string): string {
  return `\nExit codes: 0 ${fine}; 1 ${findings}; 2 wrong flags, or files that cannot be read.`
}

/** Runs a command to its exit code. A failure that a person can act on is told in one sentence. */
export async function runToExitCode(terminal: Terminal, run: () => Promise<number>): Promise<void> {
  try {
    terminal.exit(await run())
  } catch (error) {
    terminal.err(`${terminal.paint('err', 'auto').red('krmkit:')} ${errorText(error)}\n`)
    terminal.exit(exitCodes.failure)
  }
}

/** Faults that a person can act on are one sentence; anything else is a fault of ours and shows where. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.message : (error.stack ?? error.message)
}
