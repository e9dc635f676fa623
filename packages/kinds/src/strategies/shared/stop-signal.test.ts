import { expect, it } from 'vitest'
import { testContext } from '../testing/context.ts'
import { validateStopSignal } from './stop-signal.ts'
import { validateWith } from './strategy.direct.ts'

const found = (signal: string, os?: string) =>
  validateWith(testContext(), (errors) =>
    validateStopSignal(signal, errors.child('x'), os === undefined ? undefined : { name: os }),
  ).map(({ message }) => message)

it('depends on the system of the pod', () => {
  for (const signal of ['SIGUSR1', 'SIGRTMIN', 'SIGRTMIN+15', 'SIGRTMAX-14']) expect(found(signal, 'linux'), signal).toEqual([])
  expect(found('SIGRTMIN+16', 'linux')[0]).toMatch(/^Unsupported value: "SIGRTMIN\+16": supported values: "SIGABRT", "SIGALRM", /)
  expect(found('SIGTERM', 'windows')).toEqual([])
  expect(found('SIGUSR1', 'windows')).toEqual(['Unsupported value: "SIGUSR1": supported values: "SIGKILL", "SIGTERM"'])
  expect(found('SIGTERM')).toEqual(['Forbidden: may not be set for containers with empty `spec.os.name`'])
})
