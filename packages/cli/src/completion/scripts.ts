import type { CompletableCommand, CompletableWord } from './command-line.ts'

/** Completion scripts. File names complete wherever neither a command nor a flag does. */

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** The script that a shell evaluates to complete `krmkit`. */
export function completionScript(shell: Shell, commands: readonly CompletableCommand[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands)
    case 'zsh':
      return zshScript(commands)
    case 'fish':
      return fishScript(commands)
  }
}

function bashScript(commands: readonly CompletableCommand[]): string {
  const words = ({ words: all }: CompletableCommand) => all.map(({ word }) => word).join(' ')
  return `_krmkit() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= word words=
  # Bash splits --flag=value into three words.
  if [ "$cur" = = ]; then cur=; elif [ "$prev" = = ]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${descent(commands)}
  done
  case "$command:$prev" in
${choices(commands, (values) => `COMPREPLY=($(compgen -W ${quoted(values)} -- "$cur")); return;;`)}
  esac
  case "$command" in
${commands.map((command) => `    ${quoted(command.path)}) words=${quoted(words(command))};;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _krmkit krmkit
`
}

function zshScript(commands: readonly CompletableCommand[]): string {
  const item = ({ word, description }: CompletableWord) => quoted(`${word.replaceAll(':', '\\:')}:${description}`)
  return `#compdef krmkit
_krmkit() {
  local command= word prev=\${words[CURRENT-1]}
  local -a items
  for word in \${words[2,CURRENT-1]}; do
${descent(commands)}
  done
  case "$command:$prev" in
${choices(commands, (values) => `compadd -- ${values}; return;;`)}
  esac
  case "$command" in
${commands.map(({ path, words }) => `    ${quoted(path)}) items=(${words.map(item).join(' ')});;`).join('\n')}
  esac
  _describe krmkit items || _files
}
compdef _krmkit krmkit
`
}

/** The branches that follow the words of a command line from command to command. */
function descent(commands: readonly CompletableCommand[]): string {
  const branches = commands
    .filter(({ path }) => path !== '')
    .map(({ path }) => {
      const names = path.split(' ')
      const above = names.slice(0, -1).join(' ')
      return `      ${quoted(`${above}:${names.at(-1)}`)}) command=${quoted(path)};;`
    })
  return ['    case "$command:$word" in', ...branches, '    esac'].join('\n')
}

function choices(commands: readonly CompletableCommand[], action: (values: string) => string): string {
  return commands
    .flatMap(({ path, words }) =>
      words
        .filter(({ choices: values }) => values.length > 0)
        .map(({ word, choices: values }) => `    ${quoted(`${path}:${word}`)}) ${action(values.join(' '))}`),
    )
    .join('\n')
}

function fishScript(commands: readonly CompletableCommand[]): string {
  return commands.flatMap(fishLines).join('\n').concat('\n')
}

function fishLines({ path, words }: CompletableCommand): string[] {
  const names = path.split(' ').filter((name) => name !== '')
  const below = words.filter(({ isFlag }) => !isFlag).map(({ word }) => word)
  const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`)
  const notBelow = below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(' ')}`]
  const condition = quoted([...seen, ...notBelow].join('; and '))
  return words.map(({ word, description, isFlag, choices: values }) => {
    const name = !isFlag ? `-f -a ${word}` : word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`
    const taken = values.length === 0 ? '' : ` -x -a ${quoted(values.join(' '))}`
    return `complete -c krmkit -n ${condition} ${name}${taken} -d ${quotedForFish(description)}`
  })
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function quotedForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
