/** Security settings of containers. */
import { goText, utf8Length, validateUserId } from '@krmkit/meta'
import type {
  AppArmorProfile,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { checkDnsSubdomain } from './names.ts'
import { checkDescendingPath } from './paths.ts'
import { isEmpty, isSet, type R } from './values.ts'

/** A user or group id, when set. */
export function checkId(id: number | null | undefined, at: FieldPath): void {
  if (isSet(id)) at.invalidAll(id, validateUserId(id))
}

/** `securityContext` of a container. `hostUsers` tells whether the pod shares the users of its host. */
export function checkSecurityContext(
  context: R<SecurityContext> | null | undefined,
  at: FieldPath,
  options: { readonly hostUsers: boolean },
): void {
  if (!isSet(context)) return
  if (context.privileged === true && at.report.context.allowPrivileged !== true) {
    at.child('privileged').forbidden('disallowed by cluster policy')
  }
  checkId(context.runAsUser, at.child('runAsUser'))
  checkId(context.runAsGroup, at.child('runAsGroup'))
  if (isSet(context.procMount)) checkProcMount(context.procMount, at.child('procMount'), options.hostUsers)
  checkSeccompProfile(context.seccompProfile, at.child('seccompProfile'))
  if (context.allowPrivilegeEscalation === false) checkNoEscalation(context, at)
  checkWindowsOptions(context.windowsOptions, at.child('windowsOptions'))
  checkAppArmorProfile(context.appArmorProfile, at.child('appArmorProfile'))
}

function checkProcMount(mode: string, at: FieldPath, hostUsers: boolean): void {
  if (mode !== 'Default' && mode !== 'Unmasked') at.notSupported(mode, ['Default', 'Unmasked'])
  if (hostUsers && mode === 'Unmasked') at.invalid(mode, '`hostUsers` must be false to use `Unmasked`')
}

function checkNoEscalation(context: R<SecurityContext>, at: FieldPath): void {
  const printed = goText('core.SecurityContext{}')
  if (context.privileged === true) {
    at.invalid(printed, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true')
  }
  for (const capability of context.capabilities?.add ?? []) {
    if (capability === 'CAP_SYS_ADMIN') {
      at.invalid(printed, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN')
    }
  }
}

/** Where a profile comes from; the same words for seccomp and AppArmor. */
const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']

/** `seccompProfile` of a container or pod. */
export function checkSeccompProfile(profile: R<SeccompProfile> | null | undefined, at: FieldPath): void {
  if (!isSet(profile)) return
  const type = profile.type ?? ''
  const file = profile.localhostProfile
  if (type === '') at.child('type').required('type is required when seccompProfile is set')
  else if (!profileTypes.includes(type)) at.child('type').notSupported(type, profileTypes)
  if (type === 'Localhost') {
    if (!isSet(file)) at.child('localhostProfile').required('must be set when seccomp type is Localhost')
    else checkDescendingPath(file, at.child('localhostProfile'))
  } else if (isSet(file)) at.child('localhostProfile').invalid(file, 'can only be set when seccomp type is Localhost')
}

const maxAppArmorProfile = 4095

/** `appArmorProfile` of a container or pod. */
export function checkAppArmorProfile(profile: R<AppArmorProfile> | null | undefined, at: FieldPath): void {
  if (!isSet(profile)) return
  const type = profile.type ?? ''
  const name = profile.localhostProfile
  const nameAt = at.child('localhostProfile')
  if (type === 'Localhost') {
    if (!isSet(name)) nameAt.required('must be set when AppArmor type is Localhost')
    else if (name.trim() !== name) nameAt.invalid(name, 'must not be padded with whitespace')
    else if (name === '') nameAt.required('must be set when AppArmor type is Localhost')
    if (isSet(name) && utf8Length(name) > maxAppArmorProfile) nameAt.tooLong(name, maxAppArmorProfile)
    return
  }
  if (type === '') at.child('type').required('type is required when appArmorProfile is set')
  else if (!profileTypes.includes(type)) at.child('type').notSupported(type, profileTypes)
  else if (isSet(name)) nameAt.invalid(name, 'can only be set when AppArmor type is Localhost')
}

const maxGmsaSpec = 64 * 1024
const maxUserName = 104
const maxDomain = 256

/** `windowsOptions` of a container or pod. */
export function checkWindowsOptions(options: R<WindowsSecurityContextOptions> | null | undefined, at: FieldPath): void {
  if (!isSet(options)) return
  const name = options.gmsaCredentialSpecName
  if (isSet(name)) checkGmsaName(name, at.child('gmsaCredentialSpecName'))
  const spec = options.gmsaCredentialSpec
  if (isSet(spec)) {
    const here = at.child('gmsaCredentialSpec')
    if (spec === '') here.invalid(spec, 'gmsaCredentialSpec cannot be an empty string')
    else if (utf8Length(spec) > maxGmsaSpec) here.invalid(spec, `gmsaCredentialSpec size must be under ${maxGmsaSpec / 1024} KiB`)
  }
  if (isSet(options.runAsUserName)) checkUserName(options.runAsUserName, at.child('runAsUserName'))
}

function checkGmsaName(name: string, at: FieldPath): void {
  if (name === '') at.invalid(name, 'gmsaCredentialSpecName cannot be an empty string')
  else checkDnsSubdomain(name, at)
}

function checkUserName(name: string, at: FieldPath): void {
  if (name === '') {
    at.invalid(name, 'runAsUserName cannot be an empty string')
    return
  }
  // Control characters are refused before anything else is looked at.
  if ([...name].some((char) => char < ' ')) at.invalid(name, 'runAsUserName cannot contain control characters')
  const parts = name.split('\\')
  if (parts.length > 2) {
    at.invalid(name, 'runAsUserName cannot contain more than one backslash')
    return
  }
  const domain = parts.length === 2 ? parts[0]! : undefined
  const user = parts.at(-1)!
  if (domain !== undefined) checkUserDomain(name, domain, at)
  checkUserPart(name, user, at)
}

function checkUserDomain(whole: string, domain: string, at: FieldPath): void {
  if (domain === '') {
    at.invalid(whole, "runAsUserName's Domain doesn't match the NetBIOS nor the DNS format")
    return
  }
  if (utf8Length(domain) > maxDomain - 1) {
    at.invalid(whole, `runAsUserName's Domain length must be under ${maxDomain} characters`)
  }
  const netBios = /^[a-zA-Z0-9][^\\/:*?"<>|]{0,14}$/.test(domain)
  const dns = /^[a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?$/.test(domain)
  if (!netBios && !dns) at.invalid(whole, "runAsUserName's Domain doesn't match the NetBIOS nor the DNS format")
}

function checkUserPart(whole: string, user: string, at: FieldPath): void {
  if (isEmpty(user)) {
    at.invalid(whole, "runAsUserName's User cannot be empty")
    return
  }
  if (utf8Length(user) > maxUserName)
    at.invalid(whole, `runAsUserName's User length must not be longer than ${maxUserName} characters`)
  if (/^[. ]+$/.test(user)) at.invalid(whole, "runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    at.invalid(whole, 'runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  }
}
