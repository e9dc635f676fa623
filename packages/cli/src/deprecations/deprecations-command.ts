import { Command, Option } from '../commander.ts'
import { release } from '../flag-values.ts'
import { colorOption, exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { DeprecationsFlags } from './options.ts'

/** The sub-command `deprecations`. Its implementation is loaded when it runs. */
export function deprecationsCommand(terminal: Terminal): Command {
  return new Command('deprecations')
    .summary('find what a Kubernetes release has removed or deprecates')
    .description(
      'Find API versions, fields, annotations and labels that a Kubernetes release has removed or deprecates, in manifests or in the objects of a server.',
    )
    .argument(
      '<source...>',
      'files, folders (*.yaml, *.yml, *.json at any depth), - for standard input, or server for the objects of a server',
    )
    .addOption(
      new Option('--release <release>', 'Kubernetes release to judge by (default: 1.33, and what is planned after it)').argParser(
        release,
      ),
    )
    .optionsGroup('Server:')
    .addOption(new Option('--kubeconfig <path>', 'kubeconfig of the server (default: $KUBECONFIG or ~/.kube/config)'))
    .addOption(new Option('--context <name>', 'context of the kubeconfig'))
    .optionsGroup('Output:')
    .addOption(new Option('-o, --output <form>', 'output format').choices(['text', 'json', 'sarif']).default('text'))
    .addOption(
      new Option('--fail-on <severity>', 'lowest severity that causes exit code 1; error: what does not work in the release')
        .choices(['error', 'warning', 'note'])
        .default('error'),
    )
    .addOption(new Option('-q, --quiet', 'omit the summary').default(false))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('everything works in the release', 'findings'))
    .action((sources: string[], flags: DeprecationsFlags) =>
      runToExitCode(terminal, async () => (await import('./run.ts')).runDeprecations(sources, flags, terminal)),
    )
}
