import { createInterface } from 'node:readline/promises'
import { runCommand, type Terminal } from './command.ts'

/** The process of the command `create-krmkit`. */

const { stdin, stdout, env } = process
const lines = stdin.isTTY && stdout.isTTY ? createInterface({ input: stdin, output: stdout }) : undefined
const terminal: Terminal = {
  print: (line) => void stdout.write(`${line}\n`),
  fail: (line) => void process.stderr.write(`${line}\n`),
  ...(lines === undefined ? {} : { ask: (question: string) => lines.question(question) }),
  env,
}
void runCommand(process.argv.slice(2), terminal)
  .then((code) => {
    process.exitCode = code
  })
  .finally(() => lines?.close())
