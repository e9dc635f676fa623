import { Command, Option } from '../commander.ts'
import { append, gates, list } from '../flag-values.ts'
import { colorOption, exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { AdmitFlags } from './run.ts'

/** The sub-command `admit`. What it does is loaded when it runs. */
export function admitCommand(terminal: Terminal): Command {
  return new Command('admit')
    .summary('would a cluster take these objects, what would it change, and who')
    .description(
      'Hand objects to a cluster that files describe: whether each would be taken, what admission plugins would change in it and why. Objects that are taken count for those after them. Nothing is sent anywhere.',
    )
    .argument('<path...>', 'objects to create, or to update where the cluster has them: files, folders, or - for standard input')
    .optionsGroup('The cluster:')
    .addOption(
      new Option(
        '--config <path>',
        'its objects: namespaces with their labels, limit ranges, quotas, classes, accounts, roles, policies, what runs; may be repeated',
      )
        .default([], 'an empty cluster')
        .argParser(append),
    )
    .addOption(
      new Option('--enable-admission-plugins <names>', 'plugins beside those that serve has on')
        .default([], 'none')
        .argParser(list),
    )
    .addOption(new Option('--disable-admission-plugins <names>', 'plugins to leave out').default([], 'none').argParser(list))
    .addOption(new Option('--admission-control-config-file <file>', 'AdmissionConfiguration: what plugins have to be told'))
    .addOption(new Option('--feature-gates <pairs>', 'Name=true or Name=false').default({}, 'none').argParser(gates))
    .addOption(new Option('--runtime-config <pairs>', 'group versions to switch').default([], 'none').argParser(list))
    .optionsGroup('Who asks:')
    .addOption(
      new Option('--as <user>', 'user that asks, with the rights that roles of the cluster give; default: an administrator'),
    )
    .addOption(new Option('--as-group <group>', 'group of that user; may be repeated').default([], 'none').argParser(append))
    .optionsGroup('What is printed:')
    .addOption(
      new Option(
        '-o, --output <form>',
        'text: what happened; json: the same for programs; yaml: the objects as they would be stored',
      )
        .choices(['text', 'json', 'yaml'])
        .default('text'),
    )
    .addOption(new Option('-n, --namespace <name>', 'of objects that name none').default('default'))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('all would be taken', 'some would be refused'))
    .action(async (paths: string[], flags: AdmitFlags) => {
      await runToExitCode(terminal, async () => {
        const { runAdmit } = await import('./run.ts')
        return runAdmit(paths, flags, terminal)
      })
    })
}
