import { Command, Option } from '../commander.ts'
import { release } from '../flag-values.ts'
import { colorOption, exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { ApiDiffFlags } from './run.ts'

/** The sub-command `api-diff`. Its implementation is loaded when it runs. */
export function apiDiffCommand(terminal: Terminal): Command {
  return new Command('api-diff')
    .summary('compare two API surfaces by the deprecation rules of Kubernetes')
    .description(
      'Compare two API surfaces, and report each change that breaks a rule of the Kubernetes deprecation policy. A surface is a file or folder with OpenAPI documents (version 2 or 3) or CustomResourceDefinitions, or lists of elements (flags, behavior, gates, metrics), a file with metrics, release:1.24, or the URL of a server.',
    )
    .argument('<old>', 'file, folder, release:RELEASE, or https://HOST:PORT')
    .argument('<new>', 'file, folder, release:RELEASE, or https://HOST:PORT')
    .addOption(
      new Option('--old-release <release>', 'release of the old surface, to check periods of support').argParser(release),
    )
    .addOption(
      new Option('--new-release <release>', 'release of the new surface, to check periods of support').argParser(release),
    )
    .addOption(new Option('--calendar <file>', 'dates of releases, such as {"1.33": "2025-04-23"}, for periods in months'))
    .addOption(
      new Option('--kubeconfig <path>', 'kubeconfig with the credentials of servers (default: $KUBECONFIG or ~/.kube/config)'),
    )
    .addOption(new Option('--context <name>', 'context of the kubeconfig'))
    .optionsGroup('Output:')
    .addOption(new Option('-o, --output <form>', 'output format').choices(['text', 'json', 'sarif']).default('text'))
    .addOption(new Option('-a, --all', 'print changes that break no rule as well').default(false))
    .addOption(new Option('-q, --quiet', 'omit the summary').default(false))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('no rule is broken', 'broken rules'))
    .action((before: string, after: string, flags: ApiDiffFlags) =>
      runToExitCode(terminal, async () => (await import('./run.ts')).runApiDiff([before, after], flags, terminal)),
    )
}
