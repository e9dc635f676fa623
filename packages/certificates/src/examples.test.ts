import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { expect, it } from 'vitest'
import * as certificates from './index.ts'

const AsyncFunction = (async () => undefined).constructor as FunctionConstructor

it('runs the README example that signs a request', async () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [code = ''] = [...text.matchAll(/```ts\n(.*?)```/gs)]
    .map(([, body]) => body)
    .filter((body) => body?.includes('createClusterSigners('))
  expect(code).toContain('sign(')
  const body = code.replace(/^import (\{.*\}) from '@krmkit\/certificates'$/m, 'const $1 = certificates')
  const names = { certificates, clock: systemClock, random: systemRandom, profile: stockProfile }
  const pem = (await new AsyncFunction(...Object.keys(names), `${body}\nreturn pem`)(...Object.values(names))) as string
  expect(new X509Certificate(pem).toLegacyObject().subject).toMatchObject({ CN: 'jane', O: 'dev' })
})
