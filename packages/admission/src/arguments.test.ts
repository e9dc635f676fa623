import { systemRandom } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { AdmissionError } from './admission-error.ts'
import { admit } from './admit.ts'
import { createAdmissionPlugins } from './create-plugins.ts'
import { ObjectSet } from './object-set.ts'

/** Calls with wrong arguments, as callers without types make them. */

const wrong = (value: unknown) => value as never
const request = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }

it.each<[() => unknown, string]>([
  [() => createAdmissionPlugins({ random: systemRandom }, wrong({ disabled: [] })), 'has no "disabled"; did you mean "disable"?'],
  [() => new ObjectSet().put(wrong(undefined), wrong(undefined)), 'put needs { group, resource } and an object with metadata'],
  [() => new ObjectSet().put({ group: '', resource: 'pods' }, wrong({})), 'an object with metadata'],
  [() => admit(wrong(undefined), [], new ObjectSet()), 'admit needs a request: { kind, resource, object }'],
  [() => admit(request, wrong(undefined), new ObjectSet()), 'admit needs a list of plugins'],
  [() => admit(request, [], wrong(undefined)), 'admit needs a reader, such as an ObjectSet'],
])('call %# is an error that names the argument', async (call, message) => {
  const thrown = await Promise.resolve()
    .then(call)
    .catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(AdmissionError)
  expect((thrown as Error).message).toContain(message)
})
