/** Requests with large values, which the rules of their definition and policies read. */
import type { Call, Caller } from '../e2e/caller.ts'
import { bytesOf } from '../objects.ts'
import type { StallRow } from './rows.ts'

const things = '/apis/stalls.example.com/v1/namespaces/stalls/things'
const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic'

/** Expressions of policies by what they are about; each holds for the object below. */
const expressions: Readonly<Record<string, string>> = {
  'elements of a list': 'object.numbers.all(i, i >= 0)',
  'exists_one over a list': 'object.numbers.exists_one(i, i == 7)',
  'a map of a list': 'object.numbers.map(i, i + 1).size() > 0',
  'all matches of a regular expression': "object.text.findAll('[0-9][a-z]').size() > 0",
  'a match that is not there': "!object.text.matches('(a|b)+7$')",
  'a URL': "url('https://example.com/' + object.text).getHost() != ''",
  'an address that is none': '!isIP(object.text)',
  'replacing in a text': "object.text.replace('', '-').size() > 0",
  'splitting a text into characters': "object.text.split('').size() > 0",
}

const numbers = Array.from({ length: 60_000 }, (_, i) => i)
const text = 'ab cd é 12'.repeat(75_000)
const object = (name: string) => ({ apiVersion: 'stalls.example.com/v1', kind: 'Thing', metadata: { name }, numbers, text })

export function expressionRows(): StallRow[] {
  const post = (path: string, body: object): Call => ({
    method: 'POST',
    path,
    contentType: 'application/json',
    body: bytesOf(body),
  })
  let count = 0
  const create = (call: Caller) => call(post(things, object(`t-${count++}`)))
  const rows = Object.entries(expressions).map(
    ([name, expression]): StallRow => ({
      name: `policy about a large object: ${name}`,
      async prepare(call) {
        await call(post(`${policies}ies`, policyOf(expression)))
        await call(post(`${policies}ybindings`, bindingOf(expression)))
        // Policies are read from a watch.
        await new Promise((resolve) => setTimeout(resolve, 200))
      },
      async run(call) {
        await create(call)
        await call({ method: 'DELETE', path: `${policies}ies/${nameOf(expression)}` })
      },
    }),
  )
  return [
    {
      name: 'thirty rules about a large object',
      async prepare(call) {
        await call(post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition))
        while (!(await isServed(call))) await new Promise((resolve) => setTimeout(resolve, 10))
      },
      run: create,
    },
    ...rows,
  ]
}

async function isServed(call: Caller): Promise<boolean> {
  return call({ method: 'GET', path: things }).then(
    () => true,
    () => false,
  )
}

const nameOf = (expression: string) => `p-${Object.values(expressions).indexOf(expression)}`

function policyOf(expression: string): object {
  const rule = { apiGroups: ['stalls.example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['things'] }
  return {
    metadata: { name: nameOf(expression) },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] },
  }
}

function bindingOf(expression: string): object {
  const name = nameOf(expression)
  return { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } }
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.stalls.example.com' },
  spec: {
    group: 'stalls.example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              numbers: { type: 'array', maxItems: 60_000, items: { type: 'integer' } },
              text: { type: 'string', maxLength: 1_000_000 },
            },
            'x-kubernetes-validations': Array.from({ length: 30 }, (_, i) => ({
              rule:
                i % 2 === 0
                  ? `self.numbers.exists(i, i == ${20_000 + i})`
                  : `self.text.contains('cd') && self.numbers[${i}] == ${i}`,
            })),
          },
        },
      },
    ],
  },
}
