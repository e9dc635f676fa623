import { expect, it } from 'vitest'
import type { Terminal } from '../offline/terminal.ts'
import { envtestCommand, kubeApiserverCommand } from './envtest-command.ts'

const started = async (args: readonly string[]): Promise<readonly string[]> => {
  let given: readonly string[] = []
  const command = kubeApiserverCommand(async (serverArgs) => {
    given = serverArgs
  })
  await command.parseAsync([...args], { from: 'user' })
  return given
}

it('runs no controllers by default, like the original', async () => {
  expect(envtestCommand({} as Terminal).opts()).toMatchObject({ controllers: '' })
  expect(await started(['--secure-port=6444'])).toContain('--controllers=')
})

it('runs the controllers that a suite sets', async () => {
  expect(await started(['--controllers=', '--controllers=garbage-collector-controller'])).toContain(
    '--controllers=garbage-collector-controller',
  )
})
