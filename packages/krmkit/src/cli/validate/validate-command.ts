import { Command, Option } from '../commander.ts'
import { append, gates, list, pairs, release } from '../flag-values.ts'
import { colorOption, exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { ValidateFlags } from './run.ts'

/** The sub-command `validate`. Its implementation is loaded when it runs. */
export function validateCommand(terminal: Terminal): Command {
  return new Command('validate')
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
    .addOption(
      new Option(
        '--definitions <path>',
        'additional files with CustomResourceDefinitions, which are not validated; may be repeated',
      )
        .default([], 'none')
        .argParser(append),
    )
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
