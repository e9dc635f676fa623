import { Command, Option } from '../commander.ts'
import { append, duration, gates, list, pairs, release } from '../flag-values.ts'
import { colorOption, exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { ValidateFlags } from './run.ts'

/** The sub-command `validate`. Its implementation is loaded when it runs. */
export function validateCommand(terminal: Terminal): Command {
  const command = new Command('validate')
    .summary('validate manifests offline with the rules of a server')
    .description(
      'Validate manifests offline with the rules of a server: fields, types, defaulting, validation of each kind, and custom resources whose definitions are in the files.',
    )
    .argument('<path...>', 'files, folders (*.yaml, *.yml, *.json at any depth), patterns, or - for standard input')
    .optionsGroup('Validation:')
    .addOption(
      new Option('--validate <mode>', 'unknown and duplicate fields: strict = errors, warn = warnings, ignore')
        .choices(['strict', 'warn', 'ignore'])
        .default('strict'),
    )
    .addOption(
      new Option('--release, --kubernetes-version <release>', 'Kubernetes release to validate for')
        .default('1.33')
        .argParser(release),
    )
    .addOption(
      new Option(
        '--runtime-config <pairs>',
        'group versions that the server enables or disables, such as resource.k8s.io/v1beta1=true',
      )
        .default([], 'none')
        .argParser(list),
    )
    .addOption(new Option('--feature-gates <pairs>', 'Name=true or Name=false').default({}, 'none').argParser(gates))
  return addDefinitionFlags(command)
    .addOption(
      new Option('--exclude <pattern>', 'files and folders to leave out, such as **/testdata; may be repeated')
        .default([], 'none')
        .argParser(append),
    )
    .addOption(new Option('--ignore-unknown-kinds', 'accept objects of unknown kinds').default(false))
    .addOption(
      new Option('--rule <settings>', 'severity of a rule: <rule>=error|warning|off; may be repeated')
        .default({}, 'none')
        .argParser(pairs),
    )
    .addOption(new Option('--baseline <file>', 'known findings, which are not reported'))
    .addOption(new Option('--update-baseline', 'write all findings to the file of --baseline').default(false))
    .optionsGroup('Output:')
    .addOption(new Option('-o, --output <form>', 'output format').choices(['text', 'json', 'sarif', 'github']).default('text'))
    .addOption(
      new Option('--fail-on <severity>', 'lowest severity that causes exit code 1')
        .choices(['error', 'warning'])
        .default('error'),
    )
    .addOption(new Option('-q, --quiet', 'omit the summary').default(false))
    .addOption(new Option('--progress', 'report progress on the error stream (default: on a terminal, for many files)'))
    .addOption(new Option('--no-progress', 'do not report progress'))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('no errors', 'findings'))
    .action(async (paths: string[], flags: ValidateFlags) => {
      await runToExitCode(terminal, async () => {
        const { runValidate } = await import('./run.ts')
        return runValidate(paths, flags, terminal)
      })
    })
}

/** Adds the flags that name further sources of definitions of custom resources. */
function addDefinitionFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--definitions <path>',
        'additional files with CustomResourceDefinitions, which are not validated; may be repeated',
      )
        .default([], 'none')
        .argParser(append),
    )
    .addOption(
      new Option('--definitions-from-cluster', 'read the CustomResourceDefinitions of the cluster of a kubeconfig').default(
        false,
      ),
    )
    .addOption(new Option('--kubeconfig <path>', 'kubeconfig of that cluster (default: $KUBECONFIG or ~/.kube/config)'))
    .addOption(new Option('--context <name>', 'context of the kubeconfig'))
    .addOption(
      new Option(
        '--catalog <location>',
        'folder or URL with JSON schemas of custom resources, as {group}/{kind}_{version}.json unless it contains a path; may be repeated',
      )
        .default([], 'none')
        .argParser(append),
    )
    .addOption(
      new Option('--definitions-timeout <duration>', 'time to read the definitions of the cluster, or one schema of a catalog')
        .default(10_000, '10s')
        .argParser(duration),
    )
}
