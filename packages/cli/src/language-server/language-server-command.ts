import { Command, Option } from '../commander.ts'
import { append, release } from '../flag-values.ts'
import type { Terminal } from '../offline/terminal.ts'

interface LanguageServerFlags {
  readonly kubernetesVersion: string
  readonly definitions: readonly string[]
}

/** The sub-command `language-server`. Its implementation is loaded when it runs. */
export function languageServerCommand({ version }: Terminal): Command {
  return new Command('language-server')
    .summary('diagnostics, hover and completion for editors')
    .description('Serve the Language Server Protocol for manifests: diagnostics, hover, completion, symbols and quick fixes.')
    .addOption(new Option('--stdio', 'use the standard streams, which is the default').default(true))
    .addOption(
      new Option('--kubernetes-version <release>', 'Kubernetes release to validate for').default('1.33').argParser(release),
    )
    .addOption(
      new Option(
        '--definitions <path>',
        'files or folders with CustomResourceDefinitions outside of the workspace; may be repeated',
      )
        .default([], 'none')
        .argParser(append),
    )
    .action(async ({ kubernetesVersion, definitions }: LanguageServerFlags) => {
      const { runLanguageServer } = await import('./run.ts')
      await runLanguageServer({
        version,
        program: process.argv[1] ?? '',
        settings: { kubernetesVersion, definitions, rules: {} },
      })
    })
}
