import { Command, CommanderError } from './commander.ts'
import { serveCommand, unknownFlagHint } from './serve-command.ts'
import type { ServeOptions } from './serve-options.ts'

export interface ProgramOptions {
  readonly version: string
  readonly serve: (options: ServeOptions) => Promise<void>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

/** The command line. Mistakes in flags are told on `err` and thrown as CommanderError, which carries the exit code. */
export function createProgram(options: ProgramOptions): Command {
  const program = new Command('krmkit')
    .description('API machinery for Kubernetes-style APIs: a server, and tools that need none.')
    .version(options.version)
    .showHelpAfterError('(--help shows every flag)')
  const serve = serveCommand(options.serve)
  for (const command of [program, serve]) {
    command.exitOverride().configureOutput({
      writeOut: options.out,
      writeErr: options.err,
      outputError: (text, write) => write(`krmkit: ${explain(text)}`),
    })
  }
  return program.addCommand(serve)
}

/** Commander's sentence, and what we know about the flag it does not know. */
function explain(text: string): string {
  const plain = text.replace(/^error: /, '')
  const flag = /^unknown option '--([\w-]+)/.exec(plain)?.[1]
  const hint = flag === undefined ? undefined : unknownFlagHint(flag)
  return hint === undefined ? plain : `${hint}\n`
}

export { CommanderError }
