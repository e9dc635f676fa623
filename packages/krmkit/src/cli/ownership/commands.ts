import { Command, Option } from '../commander.ts'
import { append, managerName } from '../flag-values.ts'
import { colorOption, exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { ApplyFlags } from './apply.ts'
import type { BlameFlags } from './blame.ts'
import type { DiffFlags } from './diff.ts'
import type { MergeFlags } from './merge.ts'

/** The sub-commands for field ownership and patches. What they do is loaded when they run. */

const files = 'files, folders (*.yaml, *.yml, *.json at any depth), or - for standard input'

function definitionsOption(): Option {
  return new Option('--definitions <path>', 'more files with CustomResourceDefinitions; may be repeated')
    .default([], 'those among the files')
    .argParser(append)
}

function formOption(): Option {
  return new Option('-o, --output <form>', 'form of the result').choices(['yaml', 'json']).default('yaml')
}

export function applyCommand(terminal: Terminal): Command {
  return new Command('apply')
    .summary('server-side apply to files: who owns which field, and conflicts')
    .description(
      'Apply configurations to objects in files as server-side apply does: results with their owners, or conflicts and the ways out.',
    )
    .argument('<path...>', `configurations: ${files}`)
    .addOption(new Option('--live <path>', 'the objects as they are, managedFields included; without it they are created'))
    .addOption(new Option('--field-manager <name>', 'who applies').default('krmkit').argParser(managerName))
    .addOption(new Option('--force-conflicts', 'take fields over that others own').default(false))
    .addOption(definitionsOption())
    .addOption(
      new Option('-w, --write', 'write all objects back to the file of --live instead of printing those applied').default(false),
    )
    .addOption(formOption())
    .addOption(new Option('-q, --quiet', 'do not tell what changed').default(false))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('applied', 'conflicts, and nothing is printed or written'))
    .action((paths: string[], flags: ApplyFlags) =>
      runToExitCode(terminal, async () => (await import('./apply.ts')).runApply(paths, flags, terminal)),
    )
}

export function diffCommand(terminal: Terminal): Command {
  return new Command('diff')
    .summary('how objects differ, items of lists matched by their keys')
    .description(
      'Compare the objects of two files or folders field by field. Items of lists are matched by their keys, so that order does not matter.',
    )
    .argument('<from>', files)
    .argument('<to>', files)
    .addOption(new Option('--defaults', 'fill in the defaults of the types on both sides first').default(false))
    .addOption(
      new Option('--ignore <field>', 'leave a field and all below it out, such as .status; may be repeated')
        .default([], 'none')
        .argParser(append),
    )
    .addOption(new Option('--show-managed-fields', 'compare metadata.managedFields as well').default(false))
    .addOption(definitionsOption())
    .addOption(
      new Option('-o, --output <form>', 'text, json, or the patches that make the second of the first')
        .choices(['text', 'json', 'patch'])
        .default('text'),
    )
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('no difference', 'differences'))
    .action((from: string, to: string, flags: DiffFlags) =>
      runToExitCode(terminal, async () => (await import('./diff.ts')).runDiff([from, to], flags, terminal)),
    )
}

export function blameCommand(terminal: Terminal): Command {
  return new Command('blame')
    .summary('who owns each line of an object, since when, by which operation')
    .description(
      'Print objects as YAML with the owner, operation and time of each line beside it, as metadata.managedFields tells them.',
    )
    .argument('<path...>', files)
    .addOption(definitionsOption())
    .addOption(new Option('-o, --output <form>', 'form of the result').choices(['text', 'json']).default('text'))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('printed', 'never'))
    .action((paths: string[], flags: BlameFlags) =>
      runToExitCode(terminal, async () => (await import('./blame.ts')).runBlame(paths, flags, terminal)),
    )
}

export function mergeCommand(terminal: Terminal): Command {
  return new Command('merge')
    .summary('apply a patch to an object: strategic, JSON merge, JSON patch, three-way')
    .description(
      'Apply a patch to the object in a file, or make the patch that client-side apply would send and apply that (--original, --modified).',
    )
    .argument('<target>', 'file with the object as it is, or -')
    .argument('[patch]', 'file with the patch, YAML or JSON')
    .addOption(new Option('-p, --patch <text>', 'the patch itself'))
    .addOption(
      new Option(
        '--type <type>',
        'of the patch (default: json for lists; strategic for built-in kinds, merge for others)',
      ).choices(['strategic', 'merge', 'json']),
    )
    .addOption(new Option('--modified <path>', 'three-way: the object as it is wanted'))
    .addOption(new Option('--original <path>', 'three-way: the object as it was applied last'))
    .addOption(new Option('--no-overwrite', 'three-way: conflicts where the target was changed since'))
    .addOption(new Option('--print-patch', 'print the patch instead of the result').default(false))
    .addOption(definitionsOption())
    .addOption(formOption())
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('merged', 'the patch does not fit the object'))
    .action((target: string, patch: string | undefined, flags: MergeFlags) =>
      runToExitCode(terminal, async () => (await import('./merge.ts')).runMerge(target, patch, flags, terminal)),
    )
}
