import { join } from 'node:path'
import {
  CertificateError,
  createClusterSigners,
  ensureSigningAuthority,
  parseSigningAuthority,
  type SignerPurpose,
  type SigningAuthority,
  type SigningAuthoritySource,
} from '@krmkit/certificates'
import { type CertificateSigning, type Controller, signingController } from '@krmkit/controllers'
import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import { CliError, messageOf } from '../cli-error.ts'
import { readText } from '../files.ts'
import type { SigningOptions } from './serve-options.ts'

/** The certificate signing of the controllers. */
export interface ClusterSigning {
  /** Undefined when the signing controller is disabled. */
  readonly signing: CertificateSigning | undefined
  /** PEM of the generated signing authority, which the server trusts for client certificates. */
  readonly ownAuthority: string | undefined
}

export interface SigningEnvironment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  /** Selected controllers. */
  readonly controllers: readonly Controller[]
}

interface Files {
  readonly flag: string
  readonly certificate: string | undefined
  readonly key: string | undefined
}

/**
 * Creates the signers that the flags configure: one authority for all signers or one for each, from files; by default a generated one,
 * stored in the certificate folder. Files are read for each certificate, so that they can be replaced.
 *
 * @throws CliError `InvalidFlag`, `FileFailed`
 */
export async function createClusterSigning(
  options: SigningOptions & { readonly dataDir: string; readonly certDir?: string },
  environment: SigningEnvironment,
): Promise<ClusterSigning> {
  const { clusterSigningDuration: maxDurationMs, reportSigningFailures: reportFailures, requireKeyEncipherment } = options
  const common = filesOf('cluster-signing', options.clusterSigningCertFile, options.clusterSigningKeyFile)
  const special = specialFiles(options).filter(([, { certificate }]) => certificate !== undefined)
  if (common.certificate !== undefined && special.length > 0) {
    const message = `--cluster-signing-cert-file and --${special[0]![1].flag}-cert-file cannot both be given: one authority for all, or one for each`
    throw new CliError({ code: 'InvalidFlag', message })
  }
  if (!environment.controllers.includes(signingController)) return { signing: undefined, ownAuthority: undefined }
  const make = (
    authority: SigningAuthoritySource | Partial<Record<SignerPurpose, SigningAuthoritySource>>,
  ): CertificateSigning => ({
    signers: createClusterSigners({ ...environment, authority, maxDurationMs, rules: { requireKeyEncipherment } }),
    reportFailures,
  })
  if (common.certificate !== undefined) return { signing: make(await createAuthoritySource(common)), ownAuthority: undefined }
  if (special.length > 0) {
    const sources = await Promise.all(
      special.map(async ([purpose, files]) => [purpose, await createAuthoritySource(files)] as const),
    )
    return { signing: make(Object.fromEntries(sources)), ownAuthority: undefined }
  }
  const own = await localAuthority(options.certDir ?? join(options.dataDir, 'pki'), environment)
  return { signing: make(own), ownAuthority: own.certificate }
}

async function localAuthority(directory: string, environment: SigningEnvironment): Promise<SigningAuthority> {
  try {
    return await ensureSigningAuthority(directory, environment)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `cannot store the signing authority: ${messageOf(cause)}`, cause })
  }
}

function specialFiles(options: SigningOptions): [SignerPurpose, Files][] {
  return [
    [
      'apiserverClient',
      filesOf(
        'cluster-signing-kube-apiserver-client',
        options.clusterSigningKubeApiserverClientCertFile,
        options.clusterSigningKubeApiserverClientKeyFile,
      ),
    ],
    [
      'apiserverClientKubelet',
      filesOf(
        'cluster-signing-kubelet-client',
        options.clusterSigningKubeletClientCertFile,
        options.clusterSigningKubeletClientKeyFile,
      ),
    ],
    [
      'kubeletServing',
      filesOf(
        'cluster-signing-kubelet-serving',
        options.clusterSigningKubeletServingCertFile,
        options.clusterSigningKubeletServingKeyFile,
      ),
    ],
    [
      'legacyUnknown',
      filesOf(
        'cluster-signing-legacy-unknown',
        options.clusterSigningLegacyUnknownCertFile,
        options.clusterSigningLegacyUnknownKeyFile,
      ),
    ],
  ]
}

function filesOf(flag: string, certificate: string | undefined, key: string | undefined): Files {
  if ((certificate === undefined) !== (key === undefined)) {
    throw new CliError({ code: 'InvalidFlag', message: `--${flag}-cert-file and --${flag}-key-file go together` })
  }
  return { flag, certificate, key }
}

/** Returns a reader of the files and reads them once, so that errors are reported at the start. */
async function createAuthoritySource(files: Files): Promise<SigningAuthoritySource> {
  const read = () => readAuthority(files)
  try {
    await read()
  } catch (cause) {
    if (!(cause instanceof CertificateError)) throw cause
    throw new CliError({ code: 'FileFailed', message: `--${files.flag}-cert-file: ${cause.message}`, cause })
  }
  return read
}

async function readAuthority({ flag, certificate = '', key = '' }: Files): Promise<SigningAuthority> {
  const [certificateText, keyText] = await Promise.all([
    readText(certificate, `${flag}-cert-file`),
    readText(key, `${flag}-key-file`),
  ])
  return parseSigningAuthority({ certificate: certificateText, key: keyText })
}
