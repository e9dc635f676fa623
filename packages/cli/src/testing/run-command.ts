import { type TestTerminal, testTerminal } from '../offline/testing/test-terminal.ts'
import { createProgram } from '../program.ts'
import type { ServeOptions } from '../serve-options.ts'

/** The output of a command line, and the options of `serve` when it was called. */
export type CommandResult = TestTerminal['printed'] & { readonly options: ServeOptions | undefined }

/** Runs a command line. `serve` only returns its options. */
export async function runCommand(args: readonly string[], terminal: TestTerminal = testTerminal()): Promise<CommandResult> {
  let options: ServeOptions | undefined
  const serve = async (parsed: ServeOptions) => {
    options = parsed
  }
  await createProgram({ terminal, serve })
    .parseAsync(['node', 'krmkit', ...args])
    .catch((error: { readonly exitCode: number }) => terminal.exit(error.exitCode))
  return { ...terminal.printed, options }
}

/** The options of `serve` on a free port with data in a folder. @throws Error with the output of the command for invalid flags. */
export async function serveOptions(dataDir: string, flags: readonly string[] = []): Promise<ServeOptions> {
  const { options, out, err } = await runCommand(['serve', '--secure-port=0', `--data-dir=${dataDir}`, ...flags])
  if (options === undefined) throw new Error(`${out}${err}`)
  return options
}
