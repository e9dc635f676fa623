import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AuthenticationOutcome, createClientCertificateAuthenticator } from '@krmkit/authentication'
import { createCertificateAuthority } from '@krmkit/authentication/testing'
import { fakeClock, stockProfile, systemRandom } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { createCertificateBundles } from './certificate-bundles.ts'
import type { AuthenticationOptions } from './options.ts'

const folder = temporaryFolder()

it('reloads --client-ca-file and names its authorities in the handshake, without a restart', async () => {
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const [former, next] = ['former', 'next'].map((name) => createCertificateAuthority({ name, clock, random: systemRandom }))
  const path = join(folder, 'ca.pem')
  await writeFile(path, former!.certificate)
  const errors: unknown[] = []
  const published: string[] = []
  const noHeaders = {
    requestheaderUsernameHeaders: [],
    requestheaderUidHeaders: [],
    requestheaderGroupHeaders: [],
    requestheaderExtraHeadersPrefix: [],
  }
  const options = { clientCaFile: path, ...noHeaders } as Partial<AuthenticationOptions> as AuthenticationOptions
  using bundles = await createCertificateBundles(options, { clock, onError: (error) => errors.push(error) })
  bundles.onChange((pem) => published.push(pem))
  const people = createClientCertificateAuthenticator({ authorities: bundles.clientCa!, clock, profile: stockProfile })
  const shown = [former!, next!].map((authority) => authority.issue({ commonName: 'alice' }).peer)
  const kinds = () => shown.map((peer) => (people.authenticate({ headers: {}, peer }) as AuthenticationOutcome).kind)
  const replace = async (text: string) => {
    await writeFile(path, text)
    clock.advance(10_000)
    while (clock.pending === 0) await new Promise(setImmediate)
  }
  expect(kinds()).toEqual(['authenticated', 'rejected'])
  await replace(`${former!.certificate}${next!.certificate}`)
  expect(kinds()).toEqual(['authenticated', 'authenticated'])
  await replace('half a file')
  expect(kinds()).toEqual(['authenticated', 'authenticated'])
  expect(errors).toHaveLength(1)
  await replace(next!.certificate)
  expect(kinds()).toEqual(['rejected', 'authenticated'])
  expect(published).toEqual([`${former!.certificate}${next!.certificate}`, next!.certificate])
})
