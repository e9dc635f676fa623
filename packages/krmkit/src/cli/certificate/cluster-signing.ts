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
import { CliError } from '../cli-error.ts'
import { readText } from '../files.ts'
import type { SigningOptions } from './serve-options.ts'

/** Who signs certificates beside the server. */
export interface ClusterSigning {
  /** Absent when nobody does. */
  readonly signing: CertificateSigning | undefined
  /** PEM of the authority that the server has made for itself, whose client certificates it believes. */
  readonly ownAuthority: string | undefined
}

export interface SigningEnvironment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  /** Those that will run. */
  readonly controllers: readonly Controller[]
}

interface Files {
  readonly flag: string
  readonly certificate: string | undefined
  readonly key: string | undefined
}

/**
 * The signers that the flags ask for: authorities in files, one for all or one for each; without any, one that is kept with the
 * server's own certificate. Files are read for every certificate, so that they may be replaced.
 *
 * @throws CliError `InvalidFlag`, `FileFailed`
 */
export async function clusterSigning(
  options: SigningOptions & { readonly dataDir: string; readonly certDir?: string },
  environment: SigningEnvironment,
): Promise<ClusterSigning> {
  const { clusterSigningDuration: maxDurationMs, reportSigningFailures: reportFailures } = options
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
    signers: createClusterSigners({ ...environment, authority, maxDurationMs }),
    reportFailures,
  })
  if (common.certificate !== undefined) return { signing: make(await sourceOf(common)), ownAuthority: undefined }
  if (special.length > 0) {
    const sources = await Promise.all(special.map(async ([purpose, files]) => [purpose, await sourceOf(files)] as const))
    return { signing: make(Object.fromEntries(sources)), ownAuthority: undefined }
  }
  const own = await ownAuthority(options.certDir ?? join(options.dataDir, 'pki'), environment)
  return { signing: make(own), ownAuthority: own.certificate }
}

async function ownAuthority(directory: string, environment: SigningEnvironment): Promise<SigningAuthority> {
  try {
    return await ensureSigningAuthority(directory, environment)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `the signing authority cannot be kept: ${messageOf(cause)}`, cause })
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

/** Read once now, so that a mistake ends the start. */
async function sourceOf(files: Files): Promise<SigningAuthoritySource> {
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
