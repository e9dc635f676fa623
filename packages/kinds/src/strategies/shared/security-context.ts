/** Security context of containers. */
import { goQuote, goText, trimSpace, utf8Length } from '@krmkit/meta/go-text'
import { validateUserId } from '@krmkit/meta/names'
import type {
  AppArmorProfile,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { goPointer, goStruct } from './go-form.ts'
import { validateDnsSubdomain } from './names.ts'
import { validateDescendingPath } from './paths.ts'
import { isEmpty, isSet, type R } from './values.ts'

/** A user or group id, if set. */
export function validateId(id: number | null | undefined, at: FieldPath): void {
  if (isSet(id)) at.invalidAll(id, validateUserId(id))
}

/** `securityContext` of a container. `hostUsers`: the pod uses the user namespace of the host. */
export function validateSecurityContext(
  context: R<SecurityContext> | null | undefined,
  at: FieldPath,
  options: { readonly hostUsers: boolean },
): void {
  if (!isSet(context)) return
  if (context.privileged === true && at.errors.context.allowPrivileged !== true) {
    at.child('privileged').forbidden('disallowed by cluster policy')
  }
  validateId(context.runAsUser, at.child('runAsUser'))
  validateId(context.runAsGroup, at.child('runAsGroup'))
  if (isSet(context.procMount)) validateProcMount(context.procMount, at.child('procMount'), options.hostUsers)
  validateSeccompProfile(context.seccompProfile, at.child('seccompProfile'))
  if (context.allowPrivilegeEscalation === false) validateNoEscalation(context, at)
  validateWindowsOptions(context.windowsOptions, at.child('windowsOptions'))
  validateAppArmorProfile(context.appArmorProfile, at.child('appArmorProfile'))
}

function validateProcMount(mode: string, at: FieldPath, hostUsers: boolean): void {
  if (mode !== 'Default' && mode !== 'Unmasked') at.notSupported(mode, ['Default', 'Unmasked'])
  if (hostUsers && mode === 'Unmasked') at.invalid(mode, '`hostUsers` must be false to use `Unmasked`')
}

function validateNoEscalation(context: R<SecurityContext>, at: FieldPath): void {
  const printed = goText(printContext(context))
  if (context.privileged === true) {
    at.invalid(printed, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true')
  }
  for (const capability of context.capabilities?.add ?? []) {
    if (capability === 'CAP_SYS_ADMIN') {
      at.invalid(printed, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN')
    }
  }
}

function printContext(context: R<SecurityContext>): string {
  return goStruct('core.SecurityContext', {
    Capabilities: goPointer(context.capabilities, 'core.Capabilities'),
    Privileged: goPointer(context.privileged, 'bool'),
    SELinuxOptions: goPointer(context.seLinuxOptions, 'core.SELinuxOptions'),
    WindowsOptions: goPointer(context.windowsOptions, 'core.WindowsSecurityContextOptions'),
    RunAsUser: goPointer(context.runAsUser, 'int64'),
    RunAsGroup: goPointer(context.runAsGroup, 'int64'),
    RunAsNonRoot: goPointer(context.runAsNonRoot, 'bool'),
    ReadOnlyRootFilesystem: goPointer(context.readOnlyRootFilesystem, 'bool'),
    AllowPrivilegeEscalation: goPointer(context.allowPrivilegeEscalation, 'bool'),
    ProcMount: goPointer(context.procMount, 'core.ProcMountType'),
    SeccompProfile: goPointer(context.seccompProfile, 'core.SeccompProfile'),
    AppArmorProfile: goPointer(context.appArmorProfile, 'core.AppArmorProfile'),
  })
}

/** Profile types, shared by seccomp and AppArmor. */
const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']

function printProfile(type: string, file: string): string {
  return goStruct('core.SeccompProfile', { Type: goQuote(type), LocalhostProfile: goPointer(file, 'string') })
}

/** `seccompProfile` of a container or pod. */
export function validateSeccompProfile(profile: R<SeccompProfile> | null | undefined, at: FieldPath): void {
  if (!isSet(profile)) return
  const type = profile.type ?? ''
  const file = profile.localhostProfile
  if (type === '') at.child('type').required('type is required when seccompProfile is set')
  else if (!profileTypes.includes(type)) at.child('type').notSupported(type, profileTypes)
  if (type === 'Localhost') {
    if (!isSet(file)) at.child('localhostProfile').required('must be set when seccomp type is Localhost')
    else validateDescendingPath(file, at.child('localhostProfile'))
  } else if (isSet(file))
    at.child('localhostProfile').invalidText(printProfile(type, file), 'can only be set when seccomp type is Localhost')
}

const maxAppArmorProfile = 4095

/** `appArmorProfile` of a container or pod. */
export function validateAppArmorProfile(profile: R<AppArmorProfile> | null | undefined, at: FieldPath): void {
  if (!isSet(profile)) return
  const type = profile.type ?? ''
  const name = profile.localhostProfile
  const nameAt = at.child('localhostProfile')
  if (type === 'Localhost') {
    if (!isSet(name)) nameAt.required('must be set when AppArmor type is Localhost')
    else if (trimSpace(name) !== name) nameAt.invalid(name, 'must not be padded with whitespace')
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
export function validateWindowsOptions(options: R<WindowsSecurityContextOptions> | null | undefined, at: FieldPath): void {
  if (!isSet(options)) return
  const name = options.gmsaCredentialSpecName
  if (isSet(name)) validateGmsaName(name, at.child('gmsaCredentialSpecName'))
  const spec = options.gmsaCredentialSpec
  if (isSet(spec)) {
    const here = at.child('gmsaCredentialSpec')
    if (spec === '') here.invalid(spec, 'gmsaCredentialSpec cannot be an empty string')
    else if (utf8Length(spec) > maxGmsaSpec) here.invalid(spec, `gmsaCredentialSpec size must be under ${maxGmsaSpec / 1024} KiB`)
  }
  if (isSet(options.runAsUserName)) validateUserName(options.runAsUserName, at.child('runAsUserName'))
}

function validateGmsaName(name: string, at: FieldPath): void {
  if (name === '') at.invalid(name, 'gmsaCredentialSpecName cannot be an empty string')
  else validateDnsSubdomain(name, at)
}

function validateUserName(name: string, at: FieldPath): void {
  if (name === '') {
    at.invalid(name, 'runAsUserName cannot be an empty string')
    return
  }
  // Control characters are checked first.
  if ([...name].some((char) => char < ' ')) at.invalid(name, 'runAsUserName cannot contain control characters')
  const parts = name.split('\\')
  if (parts.length > 2) {
    at.invalid(name, 'runAsUserName cannot contain more than one backslash')
    return
  }
  const domain = parts.length === 2 ? parts[0]! : undefined
  const user = parts.at(-1)!
  if (domain !== undefined) validateUserDomain(name, domain, at)
  validateUserPart(name, user, at)
}

function validateUserDomain(whole: string, domain: string, at: FieldPath): void {
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

function validateUserPart(whole: string, user: string, at: FieldPath): void {
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
