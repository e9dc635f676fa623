import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCertificateAuthority } from '@krmkit/authentication/testing'
import { fakeClock, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { Command } from '../commander.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { addKubeletFlags } from './flags.ts'
import { createKubelet } from './kubelet.ts'
import type { KubeletFlags } from './options.ts'

const folder = temporaryFolder({ perTest: true })

const optionsOf = (...flags: string[]) =>
  addKubeletFlags(new Command())
    .exitOverride()
    .parse(['node', 'krmkit', ...flags])
    .opts<KubeletFlags>()
const clock = fakeClock(0)
const context = { clock, onError: () => undefined }

describe('kubelet flags', () => {
  it('default to the address types of kube-apiserver, and no certificates', async () => {
    using found = await createKubelet(optionsOf(), context)
    expect(found.preferredAddressTypes).toEqual(['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'])
    expect([found.ca, found.identity]).toEqual([undefined, undefined])
  })

  it('set the authorities, the client certificate and the address types', async () => {
    const authority = createCertificateAuthority({ name: 'nodes', clock, random: seededRandom(1) })
    const { certificate, key } = authority.issue({ commonName: 'apiserver' })
    const file = async (name: string, text: string) => {
      await writeFile(join(folder, name), text)
      return join(folder, name)
    }
    const flags = [
      `--kubelet-certificate-authority=${await file('ca.pem', authority.certificate)}`,
      `--kubelet-client-certificate=${await file('cert.pem', certificate)}`,
      `--kubelet-client-key=${await file('key.pem', key)}`,
      '--kubelet-preferred-address-types=InternalIP,ExternalIP',
    ]
    using found = await createKubelet(optionsOf(...flags), context)
    expect(found).toMatchObject({ ca: authority.certificate, preferredAddressTypes: ['InternalIP', 'ExternalIP'] })
    expect(found.identity?.()).toEqual({ certificate, key })
  })

  it('reject a certificate without a key, and files that cannot be used', async () => {
    await expect(createKubelet(optionsOf('--kubelet-client-certificate=a'), context)).rejects.toThrow(
      '--kubelet-client-certificate and --kubelet-client-key go together',
    )
    const junk = join(folder, 'junk')
    await writeFile(junk, 'junk')
    await expect(createKubelet(optionsOf(`--kubelet-certificate-authority=${junk}`), context)).rejects.toThrow(
      '--kubelet-certificate-authority',
    )
  })
})
