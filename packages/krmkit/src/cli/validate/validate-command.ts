import { Command, Option } from '../commander.ts'
import { append, gates, list, release } from '../flag-values.ts'
import { colorOption, exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { ValidateFlags } from './run.ts'

/** The sub-command `validate`. What it does is loaded when it runs. */
export function validateCommand(terminal: Terminal): Command {
  return new Command('validate')
    .summary('check manifests as a server would, without one')
    .description(
      'Check manifests as a server would, without one: fields, types, defaults, every rule of the kind, and custom resources whose definitions are among the files.',
    )
    .argument('<path...>', 'files, folders (*.yaml, *.yml, *.json at any depth), or - for standard input')
    .optionsGroup('What is checked:')
    .addOption(
      new Option('--validate <mode>', 'unknown and repeated fields: strict = errors, warn = warnings, ignore')
        .choices(['strict', 'warn', 'ignore'])
        .default('strict'),
    )
    .addOption(new Option('--kubernetes-version <release>', 'the release that counts').default('1.33').argParser(release))
    .addOption(
      new Option('--runtime-config <pairs>', 'versions that the server is told to serve, such as resource.k8s.io/v1beta1=true')
        .default([], 'none')
        .argParser(list),
    )
    .addOption(new Option('--feature-gates <pairs>', 'Name=true or Name=false').default({}, 'none').argParser(gates))
    .addOption(
      new Option(
        '--definitions <path>',
        'more files with CustomResourceDefinitions, which are not checked themselves; may be repeated',
      )
        .default([], 'none')
        .argParser(append),
    )
    .addOption(new Option('--ignore-unknown-kinds', 'let objects pass whose kind is not known').default(false))
    .optionsGroup('What is printed:')
    .addOption(new Option('-o, --output <form>', 'form of the findings').choices(['text', 'json', 'sarif']).default('text'))
    .addOption(new Option('--fail-on <severity>', 'what makes the exit code 1').choices(['error', 'warning']).default('error'))
    .addOption(new Option('-q, --quiet', 'leave the summary out').default(false))
    .addOption(
      new Option('--progress', 'tell how far it has come, on the error stream (default: on a terminal, with many files)'),
    )
    .addOption(new Option('--no-progress', 'never tell how far it has come'))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('no errors', 'findings'))
    .action(async (paths: string[], flags: ValidateFlags) => {
      await runToExitCode(terminal, async () => {
        const { runValidate } = await import('./run.ts')
        return runValidate(paths, flags, terminal)
      })
    })
}
